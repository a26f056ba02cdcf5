// What people take with them: the picture, the numbers, and the same input as Python.

/** Offer a blob as a file. */
function offer(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  $("said").textContent = `Saved ${name}.`;
}

/** The picture with its axes and colour bar, twice as fine as on the screen. */
function savePicture(page) {
  const { box } = page, scale = 2, style = getComputedStyle(document.documentElement);
  const width = $("plot").clientWidth, height = $("plot").clientHeight, legend = page.operator.shown === 2 ? 56 : 12;
  const canvas = element("canvas", { width: width * scale, height: (height + legend) * scale }), pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.fillStyle = style.getPropertyValue("--card");
  pen.fillRect(0, 0, width, height + legend);
  pen.drawImage($("picture"), box.left, box.top, box.width, box.height);
  pen.drawImage($("marks"), box.left, box.top, box.width, box.height);
  pen.drawImage($("overlay"), 0, 0, width, height);
  if (page.operator.shown === 2) {
    const [low, high] = page.range, { step, found } = roundNumbers(low, high, 6);
    pen.drawImage($("scale"), box.left, height + 8, box.width, 12);
    pen.fillStyle = style.getPropertyValue("--muted");
    pen.font = "12px ui-sans-serif, system-ui, sans-serif";
    pen.textAlign = "center";
    for (const value of found) pen.fillText(tick(value, step), box.left + ((value - low) / (high - low)) * box.width, height + 38);
  }
  canvas.toBlob((blob) => offer(blob, "kernop.png"));
}

/** All nodes inside, with their coordinates and all fields, as comma-separated values. */
function saveData(page) {
  const { operator } = page, [nx] = operator.shape;
  const axes = operator.shown === 2 ? ["x", "y"] : ["x"];
  if (operator.frames.length) axes.push(operator.timed ? "t" : "z");
  const lines = [[...axes, ...operator.fields].join(",")];
  for (let frame = 0; frame < operator.frameCount; frame++) {
    for (const k of operator.innerOf(frame)) {
      const node = operator.nodes[k], line = [operator.coordinate(0, node % nx)];
      if (operator.shown === 2) line.push(operator.coordinate(1, Math.floor(node / nx)));
      if (operator.frames.length) line.push(operator.frames[frame]);
      operator.fields.forEach((_, field) => line.push(operator.rows[operator.start(field, frame) + k]));
      lines.push(line.map((value) => Number(value.toPrecision(9))).join(","));
    }
  }
  offer(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }), "kernop.csv");
}

/** What is set on the page as a call of T. */
function asPython({ operator, state }) {
  const terms = Object.fromEntries(operator.inputs.map((name) => [name, []])), list = (values) => `[${values.join(", ")}]`;
  const digits = (value) => Number(value.toPrecision(12));
  for (const { channel, at, width, strength } of state.sources) {
    terms[operator.channels[channel].label]?.push(`${digits(strength)} * gaussian(x, ${list(at.map(digits))}, ${digits(width)})`);
  }
  operator.modes.forEach((mode, k) => {
    if (state.sliders[k] === 0) return;
    const factors = mode.powers.flatMap((power, a) => (power ? [`* (2 * x[..., ${a}] - ${operator.low[a] + operator.high[a]}) / ${operator.high[a] - operator.low[a]}`] : []));
    terms[mode.group]?.push(`${digits(state.sliders[k])} ${factors.join(" ")}`.trim());
  });
  const inputs = Object.entries(terms).map(([name, own]) => `    ${name}=${own.length ? `lambda x: ${own.join(" + ")} + 0 * x[..., 0]` : "0.0"},`);
  return `import numpy as np
import kernop as ko


def gaussian(x, center, width):
    return np.exp(-np.sum((x[..., :${operator.space}] - np.array(center)) ** 2, axis=-1) / (2 * width**2))


T = ko.load("operator.kernop")
u = T(
${inputs.join("\n")}
)
`;
}

async function copyPython(page) {
  const text = asPython(page);
  try {
    await navigator.clipboard.writeText(text);
    $("said").textContent = "Copied. It needs the file of the operator.";
  } catch {
    offer(new Blob([text], { type: "text/x-python" }), "kernop_input.py");
  }
}
