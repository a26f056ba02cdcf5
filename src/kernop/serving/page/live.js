// The page: what is shown, how it is changed by hand and by keyboard, and the loop that draws it.

class LivePage {
  constructor() {
    const model = JSON.parse($("model").textContent);
    this.operator = new Operator(model, bytesOf($("data").textContent));
    $("data").remove();
    this.picture = new (this.operator.shown === 2 ? Picture : Curve)(this.operator, $("picture"), $("marks"));
    this.state = this.beginning();
    this.colours = shades(this.state.palette);
    this.range = null;
    this.frames = [];
    this.milliseconds = this.asked = this.answered = 0;
    this.words(model);
    this.controls = new Controls(this.operator, this.state, this);
    this.listen();
    this.handles();
    this.layout();
    new ResizeObserver(() => this.layout()).observe($("plot"));
    this.solve();
  }

  words(model) {
    $("title").textContent = model.title || model.map;
    const many = this.operator.channels.length > 0;
    $("lead").textContent = `${model.title ? `${model.map}. ` : ""}${many ? "Drag a source, click to read u, move the sliders." : "Move the sliders, click to read u."} Every frame is the answer of a learned solution operator, computed here in your browser.`;
    if (this.operator.frames.length) {
      $("player").hidden = false;
      $("frame").max = this.operator.frameCount - 1;
      $("frame").setAttribute("aria-label", this.operator.timed ? "Time" : "Height of the cut");
    }
  }

  /** What a page shows first: two sources of opposite sign. */
  beginning() {
    const { operator } = this, sources = [], { low, high } = operator;
    // A wave, or heat, begins with what is there at first.
    const channel = operator.timed && operator.channels.length > 1 ? 1 : 0;
    const spots = operator.space === 1 ? [[0.4, 0, 0, 0.6]] : [[0.33, 0.62, 0.5, 0.7], [0.7, 0.34, 0.5, -0.45]];
    for (const [x, y, z, part] of operator.channels.length ? spots : []) {
      const at = [x, y, z].slice(0, operator.space).map((s, a) => low[a] + s * (high[a] - low[a]));
      const { widths, strength } = operator.channels[channel];
      if (!operator.inside(at[0], at[1], Math.floor(operator.frameCount / 2))) continue;
      sources.push({ channel, at, width: widths[0] + 0.1 * (widths[1] - widths[0]), strength: part * strength });
    }
    if (!sources.length && operator.channels.length) sources.push(this.fresh(channel));
    const t = operator.frames.length && !operator.timed ? Math.floor(operator.frameCount / 2) : 0;
    return {
      sources, sliders: operator.modes.map(() => 0), field: 0, t, playing: false, palette: "viridis", arrows: true,
      contours: true, selected: 0, probe: this.spot(Math.floor(operator.frameCount / 2)),
    };
  }

  /** A place inside, as near to the middle as can be. */
  spot(frame) {
    const { operator } = this, [nx] = operator.shape, inner = operator.innerOf(frame);
    let best = null, least = Infinity;
    for (const k of inner) {
      const node = operator.nodes[k], place = [operator.coordinate(0, node % nx)];
      if (operator.shown === 2) place.push(operator.coordinate(1, Math.floor(node / nx)));
      const far = place.reduce((sum, x, a) => sum + ((x - operator.low[a]) / (operator.high[a] - operator.low[a]) - 0.5) ** 2, 0);
      if (far < least) { least = far; best = place; }
    }
    return best;
  }

  /** A new source in the middle. */
  fresh(channel) {
    const { operator } = this, own = operator.channels[channel], at = [...this.spot(Math.floor(operator.frameCount / 2))];
    for (let a = at.length; a < operator.space; a++) at.push((operator.low[a] + operator.high[a]) / 2);
    return { channel, at, width: (own.widths[0] + own.widths[1]) / 2, strength: 0.5 * own.strength };
  }

  /** Something about the view changed. */
  change(what) {
    Object.assign(this.state, what);
    if (what.palette) this.colours = shades(what.palette);
    if (what.palette || "field" in what) this.range = null;
    this.solve();
  }

  choose(k) { this.state.selected = k; this.controls.sources(); this.handles(); }
  rechannel(channel) {
    const source = this.state.sources[this.state.selected], { widths, strength } = this.operator.channels[channel];
    Object.assign(source, { channel, width: clamp(source.width, ...widths), strength: 0.5 * strength });
    this.controls.sources();
    this.solve();
  }
  add() {
    const channel = this.state.sources[this.state.selected]?.channel || 0;
    this.state.sources.push(this.fresh(channel));
    this.choose(this.state.sources.length - 1);
    this.solve();
  }
  remove(k) {
    this.state.sources.splice(k, 1);
    this.choose(Math.max(0, k - 1));
    this.solve();
  }
  reset() {
    Object.assign(this.state, this.beginning(), { palette: this.state.palette });
    this.range = null;
    this.controls.modes();
    this.choose(0);
    this.solve();
  }

  /** One button for each source on the picture. */
  handles() {
    $("handles").replaceChildren(...this.state.sources.map((source, k) => {
      const button = element("button", { type: "button", className: "handle" }, element("i", { textContent: k + 1 }));
      button.setAttribute("aria-pressed", k === this.state.selected);
      button.onpointerdown = (event) => this.grab(event, button, k);
      button.onfocus = () => { if (this.state.selected !== k) { this.state.selected = k; this.controls.sources(); this.place(); } };
      button.onkeydown = (event) => this.nudge(event, k);
      return button;
    }));
    this.place();
  }

  /** Buttons to where the sources are. */
  place() {
    const { operator, state } = this, buttons = $("handles").children;
    state.sources.forEach((source, k) => {
      if (!buttons[k]) return;
      const [x, y] = [0, 1].map((a) => (source.at[a] - operator.low[a]) / (operator.high[a] - operator.low[a]));
      buttons[k].style.left = `${100 * x}%`;
      buttons[k].style.top = operator.shown === 2 ? `${100 * (1 - y)}%` : "94%";
      buttons[k].setAttribute("aria-pressed", k === state.selected);
      const where = source.at.map((x, a) => `${"xyz"[a]} = ${written(x, 3)}`).join(", ");
      buttons[k].setAttribute("aria-label", `Source ${k + 1} at ${where}. Arrow keys move it.`);
    });
  }

  /** The place of the picture under a pointer. */
  under(event) {
    const box = $("map").getBoundingClientRect(), { low, high } = this.operator;
    const x = low[0] + clamp((event.clientX - box.left) / box.width, 0, 1) * (high[0] - low[0]);
    const y = low[1] + (1 - clamp((event.clientY - box.top) / box.height, 0, 1)) * ((high[1] ?? 1) - low[1]);
    return [x, y];
  }

  grab(event, button, k) {
    event.preventDefault();
    button.focus({ preventScroll: true });
    button.setPointerCapture(event.pointerId);
    button.classList.add("dragging");
    this.frames = [];
    button.onpointermove = (move) => this.moveTo(k, this.under(move));
    button.onpointerup = button.onpointercancel = () => {
      button.classList.remove("dragging");
      button.onpointermove = null;
    };
  }

  /** Move a source, if the place is inside. */
  moveTo(k, [x, y]) {
    const { operator, state } = this, source = state.sources[k];
    if (!operator.inside(x, y, Math.round(state.t))) return;
    source.at[0] = x;
    if (operator.shown === 2) source.at[1] = y;
    this.place();
    this.solve();
  }

  nudge(event, k) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const { operator, state } = this, source = state.sources[k];
    if (!step) {
      if ((event.key === "Delete" || event.key === "Backspace") && state.sources.length > 1) { this.remove(k); $("handles").children[0]?.focus(); }
      return;
    }
    event.preventDefault();
    const part = event.shiftKey ? 0.05 : 0.01;
    const to = [0, 1].map((a) => (a < operator.shown ? clamp(source.at[a] + step[a] * part * (operator.high[a] - operator.low[a]), operator.low[a], operator.high[a]) : 0));
    this.moveTo(k, to);
  }

  /** Read u at the node next to a place. */
  probe(place) {
    const found = this.operator.nearest(place[0], place[1], Math.round(this.state.t));
    if (!found) return;
    this.state.probe = found.place;
    this.draw();
  }

  listen() {
    const { operator, state } = this, map = $("map");
    map.onpointerdown = (event) => { if (!event.target.closest(".handle")) this.probe(this.under(event)); };
    map.onpointermove = (event) => { if (event.buttons && !event.target.closest(".handle")) this.probe(this.under(event)); };
    map.onkeydown = (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (event.target !== map || !step) return;
      event.preventDefault();
      this.probe(state.probe.map((x, a) => x + (step[a] * (operator.high[a] - operator.low[a])) / (operator.shape[a] - 1)));
    };
    $("add").onclick = () => this.add();
    $("reset").onclick = () => this.reset();
    $("save-picture").onclick = () => savePicture(this);
    $("save-data").onclick = () => saveData(this);
    $("copy").onclick = () => copyPython(this);
    $("frame").oninput = (event) => { state.playing = false; state.t = Number(event.target.value); this.player(); this.draw(); };
    $("play").onclick = () => {
      state.playing = !state.playing;
      if (state.playing && state.t >= operator.frameCount - 1) state.t = 0;
      if (!state.playing) state.t = Math.round(state.t);
      this.then = null;
      this.player();
      this.draw();
    };
    const dark = matchMedia("(prefers-color-scheme: dark)");
    this.theme(dark.matches);
    dark.onchange = () => this.theme(dark.matches);
    $("theme").onclick = () => this.theme(document.documentElement.dataset.theme !== "dark");
  }

  theme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.axes();
    this.draw();
  }

  player() {
    const { operator, state } = this;
    if (!operator.frames.length) return;
    $("play").textContent = state.playing ? "❚❚" : "▶";
    $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
    $("frame").value = Math.round(state.t);
    const at = operator.frames[0] + (state.t / (operator.frameCount - 1)) * (operator.frames.at(-1) - operator.frames[0]);
    $("frame-value").textContent = `${operator.timed ? "t" : "z"} = ${written(Math.abs(at) < 1e-12 ? 0 : at, 3)}`;
  }

  /** The size of the picture, and its axes. */
  layout() {
    const room = $("plot").clientWidth, pad = { left: 46, right: 14, top: 6, bottom: 30 };
    const most = Math.max(300, window.innerHeight - 350); // the legend is seen too
    let width = room - pad.left - pad.right, height = width * this.picture.aspect;
    if (height > most) { height = most; width = height / this.picture.aspect; }
    const left = pad.left + (room - pad.left - pad.right - width) / 2;
    Object.assign($("map").style, { left: `${left}px`, top: `${pad.top}px`, width: `${width}px`, height: `${height}px` });
    $("plot").style.height = `${height + pad.top + pad.bottom}px`;
    this.box = { left, top: pad.top, width, height };
    Object.assign($("legend").style, { marginLeft: `${left}px`, width: `${width}px` });
    this.axes();
    this.draw();
  }

  /** Ticks along the sides of the picture. */
  axes() {
    if (!this.box) return;
    const { operator, box } = this, pen = sized($("overlay")), style = getComputedStyle(document.documentElement);
    pen.fillStyle = style.getPropertyValue("--muted");
    pen.strokeStyle = style.getPropertyValue("--line");
    pen.font = "12px ui-sans-serif, system-ui, sans-serif";
    pen.strokeRect(box.left - 0.5, box.top - 0.5, box.width + 1, box.height + 1);
    const across = roundNumbers(operator.low[0], operator.high[0], Math.max(3, box.width / 110));
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const value of across.found) {
      const x = box.left + ((value - operator.low[0]) / (operator.high[0] - operator.low[0])) * box.width;
      pen.fillText(tick(value, across.step), x, box.top + box.height + 9);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const [low, high] = operator.shown === 2 ? [operator.low[1], operator.high[1]] : this.range || [0, 1];
    const up = roundNumbers(low, high, Math.max(3, box.height / 90));
    for (const value of up.found) pen.fillText(tick(value, up.step), box.left - 9, box.top + (1 - (value - low) / (high - low)) * box.height);
    pen.font = "italic 13px ui-serif, Georgia, serif";
    pen.textAlign = "center";
    const full = across.found.some((v) => v > operator.high[0] - 0.04 * (operator.high[0] - operator.low[0]));
    pen.fillText("x", box.left + box.width - (full ? 26 : 4), box.top + box.height + 15);
    pen.textAlign = "right";
    pen.fillText(operator.shown === 2 ? "y" : operator.fields[this.state.field], box.left - 9, box.top + 6 + (up.found.some((v) => v > high - 0.04 * (high - low)) ? 16 : 0));
  }

  /** The data changed: solve with the next frame. */
  solve() { this.asked++; this.draw(); }

  /** Does the page show the answer to what was set last, and is no frame due? */
  get settled() { return this.answered === this.asked && !this.waiting; }

  /** Draw with the next frame. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => { this.waiting = false; this.frame(now); });
  }

  frame(now) {
    const { operator, state } = this, begun = performance.now();
    if (this.answered !== this.asked) {
      operator.solve(state);
      this.extent = operator.extent(state.field);
      this.error = operator.error(state);
      this.lost = operator.lost(state);
      this.answered = this.asked;
    }
    if (state.playing) {
      const seconds = this.then ? (now - this.then) / 1000 : 0;
      this.then = now;
      state.t += (seconds / 4) * (operator.frameCount - 1);
      if (state.t >= operator.frameCount - 1) state.t = 0;
      this.player();
      this.draw();
    } else if (operator.frames.length) this.player();
    this.ease();
    const [low, high] = this.range;
    const step = state.contours ? roundNumbers(low, high, 20).step : 0;
    this.picture.draw(state.field, state.t, this.colours, low, high, step);
    this.picture.drawMarks(state);
    this.controls.legend(low, high, this.colours);
    if (operator.shown === 1) this.axes();
    this.frames.push(now);
    if (this.frames.length > 400) this.frames.shift();
    this.milliseconds += 0.2 * (performance.now() - begun - this.milliseconds);
    this.read();
  }

  /** The range of colours follows u without jumps. */
  ease() {
    const { low, high } = this.extent, pad = this.operator.shown === 1 ? 0.12 * (high - low || 1) : 0;
    const wanted = spanned(this.state.palette, low - pad, high + pad);
    if (!this.range) { this.range = wanted; return; }
    const width = wanted[1] - wanted[0], off = Math.max(...wanted.map((value, k) => Math.abs(value - this.range[k])));
    if (off < 0.004 * width) this.range = wanted;
    else {
      this.range = this.range.map((value, k) => value + 0.3 * (wanted[k] - value));
      this.draw();
    }
  }

  /** u at the probe: at a node exactly; at a time between frames between them. */
  value(place = this.state.probe) {
    const { operator, state } = this, first = Math.floor(state.t), a = state.t - first;
    const found = place && operator.nearest(place[0], place[1], Math.round(state.t));
    if (!found) return null;
    const at = (frame) => operator.rows[operator.start(state.field, frame) + found.number];
    return a > 0 ? (1 - a) * at(first) + a * at(first + 1) : at(first);
  }

  read() {
    const { state, extent, error, lost, milliseconds } = this;
    const place = `at (${(state.probe || []).map((x) => written(Math.abs(x) < 1e-12 ? 0 : x, 3)).join(", ")})`;
    this.controls.readings({ value: this.value(), place, extent, error, lost, milliseconds });
  }
}

window.kernop = new LivePage();
