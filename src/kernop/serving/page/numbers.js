"use strict";
// Arrays out of the block of bytes, and numbers as people write them.

const KINDS = { f4: Float32Array, f8: Float64Array, u4: Uint32Array, u1: Uint8Array };

/** The bytes of a base64 text. */
function bytesOf(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes.buffer;
}

/** The array that stands at a place of the block. */
function arrayAt(block, place) {
  const Kind = KINDS[place.type];
  return new Kind(block, place.at, place.shape.reduce((a, b) => a * b, 1));
}

const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** A number with so many digits: 0.0123, 1.23 × 10⁻⁷. */
function written(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) {
    const text = value.toPrecision(digits);
    return (text.includes("e") ? String(Math.round(value)) : text).replace("-", "−");
  }
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const raised = [...String(Number(power))].map((c) => SUPERSCRIPT[c]).join("");
  return `${mantissa.replace("-", "−")} × 10${raised}`;
}

/** About so many round numbers from low to high, and their step. */
function roundNumbers(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((n) => n * power >= rough) * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return { step, found };
}

/** A round number as a tick: no more digits than the step needs. */
function tick(value, step) {
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e5 || step < 1e-4) return written(Math.abs(value) < step / 2 ? 0 : value, 2);
  return value.toFixed(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))).replace("-", "−");
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
