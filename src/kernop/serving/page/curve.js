// The picture of a field over one coordinate: a curve, with the faint curves of other times behind it.

class Curve {
  constructor(operator, canvas, marks) {
    this.operator = operator;
    this.canvas = canvas;
    this.marks = marks;
  }

  get aspect() { return 0.58; }

  /** Values of a field at frame t, between two frames if t is not whole. */
  values(field, t) {
    const { operator } = this, first = Math.floor(t), a = t - first, n = operator.nodes.length;
    const one = operator.start(field, first), two = a > 0 ? operator.start(field, first + 1) : one;
    return Float32Array.from({ length: n }, (_, k) => (1 - a) * operator.rows[one + k] + a * operator.rows[two + k]);
  }

  draw(field, t, colours, low, high) {
    const { operator } = this, pen = sized(this.canvas), w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    const style = getComputedStyle(document.documentElement);
    this.place = (x, v) => [((x - operator.low[0]) / (operator.high[0] - operator.low[0])) * w, (1 - (v - low) / (high - low)) * h];
    const line = (values) => {
      pen.beginPath();
      values.forEach((v, k) => pen.lineTo(...this.place(operator.coordinate(0, k), v)));
    };
    pen.strokeStyle = style.getPropertyValue("--line");
    pen.lineWidth = 1;
    pen.beginPath();
    for (const v of roundNumbers(low, high, 5).found) { const [, y] = this.place(0, v); pen.moveTo(0, y); pen.lineTo(w, y); }
    pen.stroke();
    const count = operator.frameCount;
    for (let frame = 0; frame < count && count > 1; frame += 4) {
      const pixel = colours[Math.round((frame / (count - 1)) * (SHADES - 1) * 0.9)];
      pen.strokeStyle = `rgba(${pixel & 255},${(pixel >> 8) & 255},${(pixel >> 16) & 255},.28)`;
      pen.lineWidth = 1.2;
      line(this.values(field, frame));
      pen.stroke();
    }
    const values = this.values(field, t), [, zero] = this.place(0, clamp(0, low, high));
    line(values);
    pen.strokeStyle = style.getPropertyValue("--accent");
    pen.lineWidth = 2.6;
    pen.lineJoin = "round";
    pen.stroke();
    pen.lineTo(w, zero);
    pen.lineTo(0, zero);
    pen.closePath();
    pen.globalAlpha = 0.1;
    pen.fillStyle = style.getPropertyValue("--accent");
    pen.fill();
    pen.globalAlpha = 1;
  }

  drawMarks({ field, t, probe }) {
    const pen = sized(this.marks);
    if (!probe || !this.place) return;
    const { number } = this.operator.nearest(probe[0], 0, 0);
    drawProbe(pen, ...this.place(probe[0], this.values(field, t)[number]));
  }
}
