// Colour maps that are read without colour vision too: even steps of lightness, or blue and red around zero.

const PALETTES = {
  viridis: { name: "Viridis", stops: "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c 1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725" },
  magma: { name: "Magma", stops: "000004 0a0822 1d1147 36106b 51127c 6a1c81 832681 9c2e7f b73779 d0416f e75263 f56b5c fc8961 fea772 fec488 fde2a3 fcfdbf" },
  cividis: { name: "Cividis", stops: "00224e 002e6a 1a386f 32436d 434e6c 535a6d 61656f 6f7073 7d7c78 8c8878 9b9476 aba072 bcae6c cdbb63 dec958 f0d846 fee838" },
  signed: { name: "Blue – red, 0 in the middle", signed: true, stops: "053061 175290 2a71b2 3f8ec0 6bacd1 9bc9e0 c2ddec e0ecf3 f7f6f6 fbe5d8 fbccb4 f5aa89 e48066 d05548 ba2832 930e26 67001f" },
};
const SHADES = 1024;

/** The colours of a palette as pixels (alpha, blue, green, red), SHADES of them. */
function shades(name) {
  const stops = PALETTES[name].stops.split(" ").map((hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16)));
  const pixels = new Uint32Array(SHADES);
  for (let k = 0; k < SHADES; k++) {
    const t = (k / (SHADES - 1)) * (stops.length - 1), j = Math.min(Math.floor(t), stops.length - 2), a = t - j;
    const [r, g, b] = [0, 1, 2].map((c) => Math.round(stops[j][c] * (1 - a) + stops[j + 1][c] * a));
    pixels[k] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
  return pixels;
}

/** The range of values that the colours span: symmetric around 0 if the palette is. */
function spanned(palette, low, high) {
  if (PALETTES[palette].signed) {
    const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return [-most, most];
  }
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}
