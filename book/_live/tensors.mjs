/**
 * Numbers of a model: the file that they come in, and the products and sums that a translator makes of them.
 *
 * The file is the one that PyTorch reads, too: safetensors, two bytes a number (see
 * `attnmt.book.live.weights`). Here as there they become float32. A vector is a Float32Array; a matrix is
 * {data, rows, columns}, row by row, as PyTorch stores it.
 */

// ------------------------------------------------------------------------------------ numbers

/** A number of two bytes (IEEE 754 half precision): sign, 5 bits of exponent, 10 of fraction. */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

export const sigmoid = (x) => 1 / (1 + Math.exp(-x));
export const tanh = (x) => x.map(Math.tanh);
export const add = (x, y) => x.map((value, k) => value + y[k]);
export const multiply = (x, y) => x.map((value, k) => value * y[k]);

/** Vectors one behind the other: [x; y]. */
export function concat(...vectors) {
  const joined = new Float32Array(vectors.reduce((sum, x) => sum + x.length, 0));
  let at = 0;
  for (const x of vectors) {
    joined.set(x, at);
    at += x.length;
  }
  return joined;
}

/** W x, or the product of x with only so many columns of W as it has numbers, from `first` on. */
export function product({ data, rows, columns }, x, first = 0) {
  const out = new Float32Array(rows);
  let row = 0;
  // four rows at once, more than twice as fast: no sum waits for the one before it
  for (let start = first; row + 3 < rows; row += 4, start += 4 * columns) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let k = 0, at = start; k < x.length; k++, at++) {
      const number = x[k];
      a += data[at] * number;
      b += data[at + columns] * number;
      c += data[at + 2 * columns] * number;
      d += data[at + 3 * columns] * number;
    }
    out[row] = a;
    out[row + 1] = b;
    out[row + 2] = c;
    out[row + 3] = d;
  }
  for (; row < rows; row++) out[row] = dot(x, data.subarray(row * columns + first));
  return out;
}

export function dot(x, y) {
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += x[k] * y[k];
  return sum;
}

/** Softmax over the positions from `first` to `last`, zero elsewhere. */
export function softmax(scores, first = 0, last = scores.length - 1) {
  const weights = new Float32Array(scores.length);
  const kept = scores.subarray(first, last + 1);
  const most = kept.reduce((a, b) => Math.max(a, b), -Infinity);
  let sum = 0;
  for (const score of kept) sum += Math.exp(score - most);
  kept.forEach((score, k) => (weights[first + k] = Math.exp(score - most) / sum));
  return weights;
}

export function logSoftmax(logits) {
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  const shift = most + Math.log(sum);
  return logits.map((logit) => logit - shift);
}

// ----------------------------------------------------------------------- the file of a model

const HALVES = Float32Array.from({ length: 1 << 16 }, (_, bits) => half(bits)); // all there are

function readHalves(buffer, start, count) {
  const bits = new Uint16Array(buffer, start, count);
  return Float32Array.from(bits, (one) => HALVES[one]);
}

/**
 * Read a safetensors file: 8 bytes with the length of a header, the header, the numbers.
 *
 * The header is JSON: name -> {dtype, shape, data_offsets}, and texts under "__metadata__".
 */
export function readTensors(bytes) {
  const buffer = bytes.slice().buffer; // of its own: numbers must start at multiples of their size
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = new TextDecoder().decode(new Uint8Array(buffer, 8, length));
  const { __metadata__: metadata, ...entries } = JSON.parse(header);
  const tensors = {};
  for (const [name, { shape: [rows, columns = 1], data_offsets: [start] }] of Object.entries(entries)) {
    tensors[name] = { data: readHalves(buffer, 8 + length + start, rows * columns), rows, columns };
  }
  return { metadata, tensors };
}

/** Parameters by their names in PyTorch: weights("decoder").matrix("W_s"), .linear("W_s", x). */
export function parameters(tensors, prefix = "") {
  const get = (name) => tensors[prefix + name];
  return {
    get,
    matrix: (name) => get(`${name}.weight`),
    bias: (name) => get(`${name}.bias`).data,
    linear: (name, x) => add(product(get(`${name}.weight`), x), get(`${name}.bias`).data),
    /** Row `index` of an embedding. */
    row: (name, index) => {
      const { data, columns } = get(`${name}.weight`);
      return data.subarray(index * columns, (index + 1) * columns);
    },
    within: (name) => parameters(tensors, `${prefix}${name}.`),
    has: (name) => `${prefix}${name}` in tensors,
  };
}
