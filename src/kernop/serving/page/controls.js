// What stands beside the picture: sources, sliders, readings. It tells the page what was changed, and shows what is.

const $ = (id) => document.getElementById(id);

/** An element with properties and children. */
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A slider with its label and value; `changed` is called with the value. */
function slider(label, { min, max, value, step, shown = (v) => written(v, 3) }, changed) {
  const input = element("input", { type: "range", min, max, step: step || (max - min) / 200 });
  input.value = value;
  input.setAttribute("aria-label", label); // an output is what the label would name
  const output = element("output", { textContent: shown(value) });
  input.addEventListener("input", () => { output.textContent = shown(Number(input.value)); changed(Number(input.value)); });
  input.addEventListener("dblclick", () => { if (min < 0) { input.value = 0; input.dispatchEvent(new Event("input")); } });
  return element("label", { className: "slider" }, element("span", { textContent: label }), output, input);
}

class Controls {
  constructor(operator, state, page) {
    Object.assign(this, { operator, state, page });
    this.choices();
    this.modes();
    this.sources();
    this.notes();
  }

  /** The menus above the picture. */
  choices() {
    const { operator, state, page } = this;
    operator.fields.forEach((name, k) => $("field").append(element("option", { value: k, textContent: name })));
    $("field-label").hidden = operator.fields.length < 2;
    for (const [key, { name }] of Object.entries(PALETTES)) $("palette").append(element("option", { value: key, textContent: name }));
    $("palette").value = state.palette;
    $("palette").parentElement.hidden = operator.shown === 1;
    $("arrows").parentElement.hidden = $("contours").parentElement.hidden = operator.shown === 1;
    $("field").onchange = (event) => page.change({ field: Number(event.target.value) });
    $("palette").onchange = (event) => page.change({ palette: event.target.value });
    $("arrows").onchange = (event) => page.change({ arrows: event.target.checked });
    $("contours").onchange = (event) => page.change({ contours: event.target.checked });
  }

  /** One slider for each shape of data, below the name of its condition. */
  modes() {
    const { operator, state, page } = this, box = $("mode-sliders");
    box.replaceChildren();
    let group = null;
    operator.modes.forEach((mode, k) => {
      if (mode.group !== group) box.append(element("p", { className: "group", textContent: mode.source ? `${mode.group}, everywhere` : `${mode.group}, on its boundary` }));
      group = mode.group;
      const range = { min: -mode.range, max: mode.range, value: state.sliders[k] };
      const made = slider(mode.label, range, (value) => { state.sliders[k] = value; page.solve(); });
      made.querySelector("input").setAttribute("aria-label", `${mode.group}: ${mode.label}`);
      box.append(made);
    });
    $("modes-title").textContent = operator.modes.every((mode) => mode.source) ? "Background" : "Boundary and background";
    $("modes-card").hidden = operator.modes.length === 0;
  }

  /** The list of sources, and the sliders of the chosen one. */
  sources() {
    const { operator, state, page } = this;
    $("sources-card").hidden = operator.channels.length === 0;
    $("chips").replaceChildren(...state.sources.map((source, k) => {
      const chip = element("button", { type: "button", className: "chip", textContent: `${k + 1} · ${operator.channels[source.channel].label}` });
      chip.setAttribute("aria-pressed", k === state.selected);
      chip.onclick = () => page.choose(k);
      return chip;
    }));
    const box = $("source-sliders"), source = state.sources[state.selected];
    box.replaceChildren();
    if (!source) return;
    const channel = operator.channels[source.channel], [least, most] = channel.widths;
    box.append(
      slider("Width", { min: least, max: most, value: source.width }, (value) => { source.width = value; page.solve(); }),
      slider("Strength", { min: -channel.strength, max: channel.strength, value: source.strength }, (value) => { source.strength = value; page.solve(); }),
    );
    if (operator.space > operator.shown) {
      const axis = operator.space - 1;
      box.append(slider("Height", { min: operator.low[axis], max: operator.high[axis], value: source.at[axis] }, (value) => { source.at[axis] = value; page.solve(); }));
    }
    if (operator.channels.length > 1) {
      const menu = element("select");
      operator.channels.forEach((own, k) => menu.append(element("option", { value: k, textContent: own.label })));
      menu.value = source.channel;
      menu.onchange = () => page.rechannel(Number(menu.value));
      box.append(element("label", { className: "slider" }, element("span", { textContent: "Acts on" }), menu));
    }
    if (state.sources.length > 1) {
      const button = element("button", { type: "button", className: "ghost", textContent: "Remove this source" });
      button.style.marginTop = "12px";
      button.onclick = () => page.remove(state.selected);
      box.append(button);
    }
  }

  /** The readings beside the picture. */
  readings({ value, place, extent, error, lost, milliseconds }) {
    const { operator, state } = this, name = operator.fields[state.field];
    $("probe-title").textContent = `${name} at the probe`;
    $("probe-value").textContent = value === null ? "outside" : written(value, 4);
    $("probe-place").textContent = value === null ? "" : place;
    $("range-title").textContent = `${name} goes from … to`;
    $("range-value").textContent = `${written(extent.low, 3)} … ${written(extent.high, 3)}`;
    $("speed").textContent = `solved and drawn in ${milliseconds.toFixed(1)} ms`;
    const relative = extent.rms > 0 ? (error + lost) / extent.rms : NaN;
    const steps = [[1e-6, "far below what you see", "good"], [1e-3, "below what you see", "good"], [0.03, "small, perhaps visible", "fair"], [Infinity, "not resolved: do not trust it", "poor"]];
    let [, word, tone] = steps.find(([most]) => relative <= most) || [0, "not known for this operator", "fair"];
    if (lost > error && relative > 1e-3) word = "more than T itself: this page shortens T too much here; ask T (Copy as Python)";
    $("error-value").textContent = !Number.isFinite(relative) ? "–" : relative === 0 ? "0" : relative > 1 ? "> 100 %" : written(relative, 2);
    $("error-word").textContent = Number.isFinite(relative) ? `of u, rms; ${word}` : extent.rms > 0 ? word : "u is 0";
    $("error-bar").style.width = `${clamp((Math.log10(relative || 1e-16) + 14) / 14, 0.02, 1) * 100}%`;
    $("error-bar").style.background = `var(--${tone})`;
  }

  /** The colour bar and its numbers. */
  legend(low, high, colours) {
    $("legend").hidden = this.operator.shown === 1;
    if (this.shownLegend && this.shownLegend.every((own, k) => own === [low, high, colours][k])) return;
    this.shownLegend = [low, high, colours];
    const canvas = $("scale"), pen = canvas.getContext("2d");
    canvas.width = SHADES;
    const strip = pen.createImageData(SHADES, 12), pixels = new Uint32Array(strip.data.buffer);
    for (let j = 0; j < 12; j++) pixels.set(colours, j * SHADES);
    pen.putImageData(strip, 0, 0);
    const { step, found } = roundNumbers(low, high, 6);
    $("ticks").replaceChildren(...found.map((value) => {
      const part = (value - low) / (high - low), made = element("span", { textContent: tick(value, step) });
      made.style.left = `${100 * part}%`;
      made.className = part < 0.03 ? "first" : part > 0.97 ? "last" : "";
      return made;
    }));
  }

  /** What the numbers are, below the page. */
  notes() {
    const { notes, version } = this.operator, box = $("notes");
    const paragraph = (text) => box.append(element("p", { textContent: text }));
    paragraph("The picture is no simulation: an operator T was learned once from the equation alone, and every frame is its answer to what you set, two matrix products in your browser. Nothing is sent anywhere.");
    paragraph(`Error of u: before this page was written, T estimated its own root mean square error over the domain (${notes.estimates}) for sources at a grid of places and widths and for each slider. The page adds up |strength| × estimate, relative to the root mean square of u: the error of a sum is at most the sum of the errors. Between the places of the grid it interpolates. It is an estimate, not a proof.`);
    if (notes.ranks.length) paragraph(`The page itself: T is shortened to ${notes.ranks.join(", ")} singular vectors in single precision. For sources of all widths that were not used to find them, many of them on the boundary, u differs from T's own answer by at most ${written(notes.leftOut, 2)} of its largest value. For what you set, twice the largest difference that was found for each source, times |strength|, is added to the error above; where sources cancel, it counts for more. Values are those at the nodes of the grid; the picture between them is a cubic, and times between frames are interpolated while they are played.`);
    paragraph(`Sources are strength × exp(−|x − c|² / 2 width²). A slope is −1 … 1 from side to side.`);
    for (const doubt of notes.doubts) paragraph(`Warning: ${doubt}.`);
    if (notes.report) paragraph(`T: ${notes.report}`);
    const table = element("table");
    table.append(element("tr", {}, ...["condition", "operator", "where", "points"].map((t) => element("th", { textContent: t }))));
    for (const own of notes.conditions) table.append(element("tr", {}, ...[own.name, own.operator, own.region, own.points].map((t) => element("td", { textContent: t }))));
    box.append(table);
    paragraph(`${notes.space}; kernop ${version}.`);
  }
}
