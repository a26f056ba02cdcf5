// The operator: sources and sliders in, u and its gradient at all nodes out. One matrix product for each channel.

/** Of a few numbers in single precision, relative. */
const ROUNDING = 4 * 2 ** -24;

class Operator {
  constructor(model, block) {
    Object.assign(this, model);
    const array = (place) => arrayAt(block, place);
    this.nodes = array(model.nodes);
    this.arrows = array(model.arrows);
    this.mask = Operator.bits(array(model.mask), model.mask.bits);
    this.frameCount = Math.max(model.frames.length, 1);
    this.offset = model.offset && array(model.offset);
    this.channels = model.channels.map((own) => ({
      ...own, points: array(own.points), left: array(own.left), right: array(own.right),
      rank: own.left.shape[1], errorShape: own.errors.shape, errors: array(own.errors),
    }));
    this.modes = model.modes.map((own) => {
      const column = array(own.column);
      return { ...own, column, error: array(own.error)[0], size: column.reduce((most, x) => Math.max(most, Math.abs(x)), 0) };
    });
    const frame = model.fields.length * this.nodes.length;
    this.slopesAt = frame * this.frameCount;
    this.rows = new Float32Array(this.slopesAt + this.frameCount * model.fields.length * model.shown * this.arrows.length);
    this.numberOf = new Int32Array(model.shape.reduce((a, b) => a * b, 1)).fill(-1);
    this.nodes.forEach((node, k) => { this.numberOf[node] = k; });
    this.inner = this.insideNodes();
  }

  /** Packed bits as bytes, frame by frame: {frames, height, width, bytes}. */
  static bits(packed, [frames, height, width]) {
    const bytes = new Uint8Array(frames * height * width);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (packed[i >> 3] >> (7 - (i & 7))) & 1;
    return { frames, height, width, bytes };
  }

  /** The coordinate of a node along an axis that is shown. */
  coordinate(axis, index) {
    return this.low[axis] + (index * (this.high[axis] - this.low[axis])) / (this.shape[axis] - 1);
  }

  /** Is a place of the picture inside the domain, in this frame? */
  inside(x, y, frame = 0) {
    if (this.shown === 1) return x >= this.low[0] && x <= this.high[0];
    const { frames, height, width, bytes } = this.mask;
    const i = Math.round(((x - this.low[0]) / (this.high[0] - this.low[0])) * (width - 1));
    const j = Math.round(((y - this.low[1]) / (this.high[1] - this.low[1])) * (height - 1));
    if (i < 0 || j < 0 || i >= width || j >= height) return false;
    return bytes[(frames > 1 ? frame : 0) * width * height + j * width + i] === 1;
  }

  /** For each frame, the numbers of the computed nodes that lie inside. */
  insideNodes() {
    const [nx] = this.shape;
    const found = [];
    for (let frame = 0; frame < (this.mask.frames > 1 ? this.frameCount : 1); frame++) {
      const own = [];
      this.nodes.forEach((node, k) => {
        const x = this.coordinate(0, node % nx);
        const y = this.shown === 2 ? this.coordinate(1, Math.floor(node / nx)) : 0;
        if (this.inside(x, y, frame)) own.push(k);
      });
      found.push(Int32Array.from(own));
    }
    return found;
  }

  innerOf(frame) { return this.inner[this.inner.length > 1 ? frame : 0]; }

  /** u and its gradient for a state, in this.rows. */
  solve({ sources, sliders }) {
    const rows = this.rows;
    if (this.offset) rows.set(this.offset); else rows.fill(0);
    this.channels.forEach((channel, k) => {
      const own = sources.filter((source) => source.channel === k && source.strength !== 0);
      if (own.length) Operator.multiply(channel.left, Operator.coordinates(channel, own, this.space), rows);
    });
    this.modes.forEach((mode, k) => {
      const strength = sliders[k];
      if (strength !== 0) for (let i = 0; i < rows.length; i++) rows[i] += strength * mode.column[i];
    });
    return rows;
  }

  /** V h for the sum h of some Gaussian sources. */
  static coordinates(channel, sources, space) {
    const { points, right, rank } = channel;
    const n = points.length / space;
    const h = new Float64Array(n);
    for (const { at, width, strength } of sources) {
      const factor = -0.5 / (width * width);
      for (let i = 0; i < n; i++) {
        let square = 0;
        for (let a = 0; a < space; a++) square += (points[i * space + a] - at[a]) ** 2;
        h[i] += strength * Math.exp(factor * square);
      }
    }
    const y = new Float64Array(rank);
    for (let j = 0; j < rank; j++) {
      let sum = 0;
      for (let i = 0, k = j * n; i < n; i++, k++) sum += right[k] * h[i];
      y[j] = sum;
    }
    return y;
  }

  /** rows += U y. */
  static multiply(left, y, rows) {
    const rank = y.length, even = rank & ~3;
    for (let i = 0, k = 0; i < rows.length; i++, k += rank) {
      let a = 0, b = 0, c = 0, d = 0;
      for (let j = 0; j < even; j += 4) {
        a += left[k + j] * y[j];
        b += left[k + j + 1] * y[j + 1];
        c += left[k + j + 2] * y[j + 2];
        d += left[k + j + 3] * y[j + 3];
      }
      for (let j = even; j < rank; j++) a += left[k + j] * y[j];
      rows[i] += a + b + (c + d);
    }
  }

  /** Where the values of a field begin in the rows, in a frame. */
  start(field, frame) { return (frame * this.fields.length + field) * this.nodes.length; }

  /** Where the derivatives of a field along an axis begin in the rows, in a frame. */
  slopeStart(field, axis, frame) {
    const n = this.arrows.length;
    return this.slopesAt + ((frame * this.fields.length + field) * this.shown + axis) * n;
  }

  /** The least and the largest value of a field inside, and its root mean square, over all frames. */
  extent(field) {
    let low = Infinity, high = -Infinity, squares = 0, count = 0;
    for (let frame = 0; frame < this.frameCount; frame++) {
      const start = this.start(field, frame), inner = this.innerOf(frame);
      for (let k = 0; k < inner.length; k++) {
        const value = this.rows[start + inner[k]];
        if (value < low) low = value;
        if (value > high) high = value;
        squares += value * value;
      }
      count += inner.length;
    }
    return { low, high, rms: Math.sqrt(squares / Math.max(count, 1)) };
  }

  /** The estimated root mean square error of u: the sum of what T said of each part. */
  error({ sources, sliders }) {
    let sum = 0;
    for (const source of sources) sum += Math.abs(source.strength) * this.sourceError(source);
    this.modes.forEach((mode, k) => { if (sliders[k] !== 0) sum += Math.abs(sliders[k]) * mode.error; });
    return sum;
  }

  /** The most by which u at a node may differ from T's own answer: what the matrices leave out, and rounding. */
  lost({ sources, sliders }) {
    let sum = 0;
    for (const { channel, width, strength } of sources) {
      const { lost, widths } = this.channels[channel];
      const part = Math.log(width / widths[0]) / Math.log(widths[1] / widths[0]);
      sum += Math.abs(strength) * lost[clamp(Math.floor(part * lost.length), 0, lost.length - 1)];
    }
    this.modes.forEach((mode, k) => { sum += Math.abs(sliders[k]) * mode.size * ROUNDING; });
    return sum;
  }

  /** The error of a source of strength 1, between the entries of the table: linear in its logarithm. */
  sourceError({ channel, at, width }) {
    const { errors, errorShape, widths } = this.channels[channel];
    const places = [Math.log(width / widths[0]) / Math.log(widths[1] / widths[0])];
    for (let a = 0; a < this.space; a++) places.push((at[a] - this.low[a]) / (this.high[a] - this.low[a]));
    let found = 0;
    for (let corner = 0; corner < 1 << places.length; corner++) {
      let weight = 1, index = 0;
      places.forEach((place, a) => {
        const t = clamp(place, 0, 1) * (errorShape[a] - 1), cell = Math.min(Math.floor(t), errorShape[a] - 2);
        const upper = (corner >> a) & 1;
        weight *= upper ? t - cell : 1 - (t - cell);
        index = index * errorShape[a] + cell + upper;
      });
      if (weight > 0) found += weight * Math.log(errors[index]);
    }
    return Math.exp(found);
  }

  /** The node next to a place, if u is known there: {node, number, x}. */
  nearest(x, y, frame) {
    const [nx, ny] = [this.shape[0], this.shape[1] || 1];
    const i = clamp(Math.round(((x - this.low[0]) / (this.high[0] - this.low[0])) * (nx - 1)), 0, nx - 1);
    const j = this.shown === 2 ? clamp(Math.round(((y - this.low[1]) / (this.high[1] - this.low[1])) * (ny - 1)), 0, ny - 1) : 0;
    const place = [this.coordinate(0, i)];
    if (this.shown === 2) place.push(this.coordinate(1, j));
    if (!this.inside(place[0], place[1], frame)) return null;
    return { number: this.numberOf[j * nx + i], place, index: [i, j] };
  }
}
