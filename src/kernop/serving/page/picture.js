// The picture of a field over two coordinates: a smooth interpolation of the nodes, coloured, with contour lines.

class Picture {
  constructor(operator, canvas, marks) {
    this.operator = operator;
    [this.nx, this.ny] = operator.shape;
    this.width = operator.mask.width;
    this.height = operator.mask.height;
    this.canvas = canvas;
    this.marks = marks;
    canvas.width = this.width;
    canvas.height = this.height;
    this.context = canvas.getContext("2d");
    this.image = this.context.createImageData(this.width, this.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.padded = new Float32Array((this.nx + 2) * (this.ny + 2));
    this.strips = new Float32Array(this.width * (this.ny + 2));
    this.values = new Float32Array(this.width * this.height);
    this.fine = (this.width - 1) / (this.nx - 1); // pixels for each cell of the grid
    this.weights = Array.from({ length: this.fine }, (_, k) => Picture.cubic(k / this.fine));
    this.edge = this.edgePixels();
    this.beyond = operator.inner.map((inner) => this.continued(inner));
  }

  get aspect() {
    const { low, high } = this.operator;
    return (high[1] - low[1]) / (high[0] - low[0]);
  }

  /** Weights of four neighbours at t between the second and the third: a cubic through all of them. */
  static cubic(t) {
    return [((2 - t) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2, ((4 - 3 * t) * t + 1) * t / 2, ((t - 1) * t * t) / 2];
  }

  /** Pixels inside that have a neighbour outside, for each frame of the mask. */
  edgePixels() {
    const { frames, bytes } = this.operator.mask, { width, height } = this, size = width * height;
    return Array.from({ length: frames }, (_, frame) => {
      const own = [], at = frame * size;
      for (let j = 0; j < height; j++) for (let i = 0; i < width; i++) {
        const k = at + j * width + i;
        if (!bytes[k]) continue;
        if (i === 0 || j === 0 || i === width - 1 || j === height - 1) continue;
        if (!bytes[k - 1] || !bytes[k + 1] || !bytes[k - width] || !bytes[k + width]) own.push(j * width + i);
      }
      return Int32Array.from(own);
    });
  }

  /** How u goes on at nodes next to those inside, so that the picture is smooth up to the edge: [node, a, b] for 2 a − b. */
  continued(inner) {
    const { operator, nx, ny } = this, known = new Uint8Array(nx * ny), steps = [];
    for (const k of inner) known[operator.nodes[k]] = 1;
    const ways = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1]];
    const has = (i, j) => i >= 0 && j >= 0 && i < nx && j < ny && known[j * nx + i] === 1;
    for (let layer = 0; layer < 3; layer++) {
      const found = [];
      for (let j = 0; j < ny; j++) for (let i = 0; i < nx; i++) {
        if (has(i, j)) continue;
        const next = ways.filter(([dx, dy]) => has(i + dx, j + dy));
        const two = next.filter(([dx, dy]) => has(i + 2 * dx, j + 2 * dy));
        const terms = (two.length ? two : next).map(([dx, dy]) => {
          const a = (j + dy) * nx + i + dx;
          return [a, two.length ? (j + 2 * dy) * nx + i + 2 * dx : a];
        });
        if (terms.length) found.push([j * nx + i, terms]);
      }
      for (const [node] of found) known[node] = 1;
      steps.push(...found);
    }
    return steps;
  }

  /** The nodes of a field with one more all around, where it goes on linearly; between two frames if t is not whole. */
  fill(field, t) {
    const { operator, padded, nx, ny } = this, line = nx + 2;
    const first = Math.floor(t), a = t - first, rows = operator.rows;
    const one = operator.start(field, first), two = a > 0 ? operator.start(field, first + 1) : one;
    const at = (node) => { const j = (node / nx) | 0; return (j + 1) * line + (node - j * nx) + 1; };
    padded.fill(0);
    for (let k = 0; k < operator.nodes.length; k++) {
      padded[at(operator.nodes[k])] = a > 0 ? (1 - a) * rows[one + k] + a * rows[two + k] : rows[one + k];
    }
    for (const [node, terms] of this.beyond[this.beyond.length > 1 ? Math.round(t) : 0]) {
      let sum = 0;
      for (const [near, far] of terms) sum += 2 * padded[at(near)] - padded[at(far)];
      padded[at(node)] = sum / terms.length;
    }
    for (let j = 1; j <= ny; j++) {
      padded[j * line] = 2 * padded[j * line + 1] - padded[j * line + 2];
      padded[j * line + nx + 1] = 2 * padded[j * line + nx] - padded[j * line + nx - 1];
    }
    for (let i = 0; i < line; i++) {
      padded[i] = 2 * padded[line + i] - padded[2 * line + i];
      padded[(ny + 1) * line + i] = 2 * padded[ny * line + i] - padded[(ny - 1) * line + i];
    }
  }

  /** The values at all pixels, by cubics along x, then along y. */
  interpolate() {
    const { padded, strips, values, weights, width, height, nx, ny, fine } = this, line = nx + 2;
    for (let j = 0; j < ny + 2; j++) {
      for (let i = 0, k = j * width; i < width; i++, k++) {
        const cell = Math.min((i / fine) | 0, nx - 2), part = i - cell * fine, p = j * line + cell;
        if (part === fine) { strips[k] = padded[p + 2]; continue; }
        const w = weights[part];
        strips[k] = w[0] * padded[p] + w[1] * padded[p + 1] + w[2] * padded[p + 2] + w[3] * padded[p + 3];
      }
    }
    for (let j = 0; j < height; j++) {
      const cell = Math.min((j / fine) | 0, ny - 2), part = j - cell * fine, p = cell * width, out = j * width;
      if (part === fine) { values.set(strips.subarray(p + 2 * width, p + 3 * width), out); continue; }
      const [a, b, c, d] = weights[part];
      for (let i = 0; i < width; i++) {
        const q = p + i;
        values[out + i] = a * strips[q] + b * strips[q + width] + c * strips[q + 2 * width] + d * strips[q + 3 * width];
      }
    }
  }

  /** Draw a field at frame t in these colours, from low to high; with contours if a step between them is given. */
  draw(field, t, colours, low, high, step) {
    this.fill(field, t);
    this.interpolate();
    const { pixels, values, width, height } = this, { frames, bytes } = this.operator.mask;
    const frame = frames > 1 ? Math.round(t) : 0, at = frame * width * height;
    const scale = (SHADES - 1) / (high - low), inverse = step ? 1 / step : 0;
    for (let j = 0; j < height; j++) {
      const out = (height - 1 - j) * width; // the first row of an image is its top
      for (let i = 0; i < width; i++) {
        const k = j * width + i;
        if (!bytes[at + k]) { pixels[out + i] = 0; continue; }
        const v = values[k];
        let shade = (v - low) * scale;
        shade = shade < 0 ? 0 : shade > SHADES - 1 ? SHADES - 1 : shade;
        let pixel = colours[shade | 0];
        if (inverse) {
          const q = v * inverse - 0.5, off = Math.abs(q - Math.round(q)); // between the round numbers: many boundaries have u = 0
          if (off < 0.2) { // contours are more than five pixels apart
            const gx = (values[i + 1 < width ? k + 1 : k] - v) * inverse, gy = (values[j + 1 < height ? k + width : k] - v) * inverse;
            const near = off * off / (gx * gx + gy * gy + 1e-12); // squared distance to the line, in pixels
            if (near < 1) pixel = Picture.shaded(pixel, 0.42 * (1 - near));
          }
        }
        pixels[out + i] = pixel;
      }
    }
    for (const k of this.edge[frame]) {
      const j = (k / width) | 0;
      pixels[(height - 1 - j) * width + (k - j * width)] = 0xff3a2a20;
    }
    this.context.putImageData(this.image, 0, 0);
  }

  /** A pixel mixed with white if it is dark, with black if it is light. */
  static shaded(pixel, part) {
    const r = pixel & 255, g = (pixel >> 8) & 255, b = (pixel >> 16) & 255;
    const target = 2 * r + 5 * g + b > 900 ? 0 : 255, keep = 1 - part, add = target * part;
    return (255 << 24) | ((b * keep + add) << 16) | ((g * keep + add) << 8) | (r * keep + add);
  }

  /** The gradient as arrows, the longest as long as the gap between them; the widths of sources; the probe. */
  drawMarks({ field, t, arrows, probe, sources }) {
    const { marks, operator, nx } = this, frame = Math.round(t);
    const pen = sized(marks);
    const w = marks.clientWidth, h = marks.clientHeight;
    const place = (x, y) => [((x - operator.low[0]) / (operator.high[0] - operator.low[0])) * w, (1 - (y - operator.low[1]) / (operator.high[1] - operator.low[1])) * h];
    if (arrows && operator.arrows.length) {
      const gx = operator.slopeStart(field, 0, frame), gy = operator.slopeStart(field, 1, frame), rows = operator.rows;
      let most = 0;
      for (let k = 0; k < operator.arrows.length; k++) most = Math.max(most, Math.hypot(rows[gx + k], rows[gy + k]));
      const gap = 0.95 * Math.min(w, h) / Math.sqrt(operator.arrows.length + 1);
      for (const [colour, thick] of [["rgba(10,12,24,.55)", 3.2], ["rgba(255,255,255,.95)", 1.5]]) {
        pen.strokeStyle = colour;
        pen.lineWidth = thick;
        pen.lineCap = pen.lineJoin = "round";
        pen.beginPath();
        operator.arrows.forEach((node, k) => {
          const [x, y] = place(operator.coordinate(0, node % nx), operator.coordinate(1, Math.floor(node / nx)));
          const size = Math.hypot(rows[gx + k], rows[gy + k]);
          if (size < 0.02 * most || most === 0) return;
          const length = gap * Math.sqrt(size / most), dx = (rows[gx + k] / size) * length, dy = (-rows[gy + k] / size) * length;
          const [x0, y0, x1, y1] = [x - dx / 2, y - dy / 2, x + dx / 2, y + dy / 2], tip = Math.min(5, length / 2.5);
          const angle = Math.atan2(dy, dx);
          pen.moveTo(x0, y0);
          pen.lineTo(x1, y1);
          pen.moveTo(x1 - tip * Math.cos(angle - 0.55), y1 - tip * Math.sin(angle - 0.55));
          pen.lineTo(x1, y1);
          pen.lineTo(x1 - tip * Math.cos(angle + 0.55), y1 - tip * Math.sin(angle + 0.55));
        });
        pen.stroke();
      }
    }
    for (const { at, width } of sources) {
      pen.strokeStyle = "rgba(255,255,255,.85)";
      pen.lineWidth = 1.4;
      pen.setLineDash([3, 4]);
      pen.beginPath();
      pen.arc(...place(at[0], at[1]), (width / (operator.high[0] - operator.low[0])) * w, 0, 2 * Math.PI);
      pen.stroke();
      pen.setLineDash([]);
    }
    if (probe) drawProbe(pen, ...place(...probe));
  }
}

/** A canvas as fine as the screen; its pen draws in CSS pixels. */
function sized(canvas) {
  const ratio = window.devicePixelRatio || 1, w = Math.round(canvas.clientWidth * ratio), h = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  return pen;
}

/** A ring and a cross where u is read. */
function drawProbe(pen, x, y) {
  for (const [colour, thick] of [["rgba(10,12,24,.8)", 4], ["#ffffff", 1.8]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.beginPath();
    pen.arc(x, y, 7, 0, 2 * Math.PI);
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      pen.moveTo(x + 7 * dx, y + 7 * dy);
      pen.lineTo(x + 12 * dx, y + 12 * dy);
    }
    pen.stroke();
  }
}
