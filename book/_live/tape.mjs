// A tape: it computes with matrices, notes how, and goes back over its notes for the gradients.
//
//   const tape = new Tape();
//   const loss = tape.surprise(tape.linear(x, W, b), ids);
//   tape.backward(loss);      // W.grad, b.grad and x.grad are filled
//   tape.clear();             // its matrices are forgotten; parameters are another tape's
//
// A matrix is { rows, cols, data, grad }, row after row. Where matrices of one row for each sentence
// (B), for each source word of each sentence (B * S, a sentence's words together), and of one row
// alone meet, the fewer rows are repeated.

export const range = (count) => [...Array(count).keys()]; // 0, 1, 2, ...

// Where the row of x begins that belongs to row r of `rows`.
export const begin = (x, r, rows) => Math.floor((r * x.rows) / rows) * x.cols;

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

// name -> [value, its slope from the value and x]
export const CURVES = {
  tanh: [Math.tanh, (z) => 1 - z * z],
  sigmoid: [sigmoid, (z) => z * (1 - z)],
  relu: [(x) => Math.max(0, x), (z) => Number(z > 0)],
  exp: [Math.exp, (z) => z],
  abs: [Math.abs, (z, x) => Math.sign(x)],
  sqrt: [Math.sqrt, (z) => 0.5 / z],
};

// name -> [value, slope for x, slope for y]
const PAIRS = {
  "+": [(x, y) => x + y, () => 1, () => 1],
  "-": [(x, y) => x - y, () => 1, () => -1],
  "*": [(x, y) => x * y, (x, y) => y, (x) => x],
  "/": [(x, y) => x / y, (x, y) => 1 / y, (x, y) => -x / (y * y)],
};

const TINY = 1e-45; // so that the logarithm of a probability is a number

const inner = (x, i, y, j, count) => {
  let sum = 0;
  for (let c = 0; c < count; c++) sum += x[i + c] * y[j + c];
  return sum;
};

const add = (to, i, times, from, j, count) => {
  for (let c = 0; c < count; c++) to[i + c] += times * from[j + c];
};

// Nearly all time is spent in the next two, so they take four rows at once.

// y[r][k] = sum_c x[r][c] W[k][c]
function products({ rows, cols, data: x }, { rows: size, data: W }, y) {
  for (let r = 0; r < rows; r++)
    for (let k = 0; k < size; k += 4) {
      // Past the end, the last row is taken once more.
      const [k1, k2, k3] = [Math.min(k + 1, size - 1), Math.min(k + 2, size - 1), Math.min(k + 3, size - 1)];
      let [w0, w1, w2, w3] = [k * cols, k1 * cols, k2 * cols, k3 * cols];
      let [s0, s1, s2, s3] = [0, 0, 0, 0];
      for (let at = r * cols; at < (r + 1) * cols; at++) {
        const value = x[at];
        s0 += value * W[w0++];
        s1 += value * W[w1++];
        s2 += value * W[w2++];
        s3 += value * W[w3++];
      }
      y[r * size + k] = s0;
      y[r * size + k1] = s1;
      y[r * size + k2] = s2;
      y[r * size + k3] = s3;
    }
}

// to[m][c] += sum_k g(m, k) from[k][c], where g(m, k) is g[m * stepM + k * stepK]
function spread(g, from, to, rows, size, cols, stepM, stepK) {
  for (let m = 0; m < rows; m++) {
    const row = m * cols;
    let k = 0;
    for (; k + 3 < size; k += 4) {
      const at = m * stepM + k * stepK;
      const [g0, g1, g2, g3] = [g[at], g[at + stepK], g[at + 2 * stepK], g[at + 3 * stepK]];
      let [f0, f1, f2, f3] = [k * cols, (k + 1) * cols, (k + 2) * cols, (k + 3) * cols];
      for (let c = row; c < row + cols; c++)
        to[c] += g0 * from[f0++] + g1 * from[f1++] + g2 * from[f2++] + g3 * from[f3++];
    }
    for (; k < size; k++) add(to, row, g[m * stepM + k * stepK], from, k * cols, cols);
  }
}

export class Tape {
  constructor() {
    this.numbers = new Float32Array(1 << 18); // for its matrices, and for others after clear()
    this.clear();
  }

  clear() {
    this.steps = []; // backwards
    this.numbers.fill(0, 0, this.taken);
    this.taken = 0;
  }

  take(size) {
    if (this.taken + size > this.numbers.length) {
      this.numbers = new Float32Array(2 * this.numbers.length + size);
      this.taken = 0;
    }
    this.taken += size;
    return this.numbers.subarray(this.taken - size, this.taken);
  }

  matrix(rows, cols, values = []) {
    const [data, grad] = [this.take(rows * cols), this.take(rows * cols)];
    data.set(values);
    return { rows, cols, data, grad };
  }

  number(value) {
    return this.matrix(1, 1, [value]);
  }

  backward(loss) {
    loss.grad[0] = 1;
    for (const step of this.steps.toReversed()) step();
  }

  // A new matrix: forward(y) fills its numbers, backward(g, y) sends their gradients on.
  make(rows, cols, forward, backward) {
    const out = this.matrix(rows, cols);
    forward(out.data);
    this.steps.push(() => backward(out.grad, out.data));
    return out;
  }

  // The same row by row: both are told the row's number, and where it begins.
  byRow(rows, cols, forward, backward) {
    const each = (visit) => {
      for (let r = 0; r < rows; r++) visit(r, r * cols);
    };
    const back = (g, y) => each((r, row) => backward(g, r, row, y));
    return this.make(rows, cols, (y) => each((r, row) => forward(y, r, row)), back);
  }

  // A matrix of pieces of others, one after the other: each [matrix, its first number, how many].
  pieces(rows, list) {
    const size = list.reduce((sum, [, , count]) => sum + count, 0);
    const each = (visit) => {
      let at = 0;
      for (const [x, first, count] of list) {
        visit(x, first, at, count);
        at += count;
      }
    };
    const forward = (y) => each((x, i, at, count) => add(y, at, 1, x.data, i, count));
    return this.make(rows, size / rows, forward, (g) => each((x, i, at, count) => add(x.grad, i, 1, g, at, count)));
  }

  // The rows of a matrix that `ids` name: (ids, cols).
  lookup(x, ids) {
    return this.pieces(ids.length, ids.map((id) => [x, id * x.cols, x.cols]));
  }

  // The i-th `rows` rows of a matrix.
  slice(x, i, rows) {
    const count = rows * x.cols;
    return this.pieces(rows, [[x, i * count, count]]);
  }

  // [x; y; ...]: the columns of all, side by side.
  join(parts, rows = Math.max(...parts.map((x) => x.rows))) {
    return this.pieces(rows, range(rows).flatMap((r) => parts.map((x) => [x, begin(x, r, rows), x.cols])));
  }

  // A matrix with its fewer rows, or its single column, repeated.
  repeat(x, rows, cols) {
    if (x.rows === rows && x.cols === cols) return x;
    return this.join(Array(cols / x.cols).fill(x), rows);
  }

  // x W^T + b: x (R, a), W (o, a), b (1, o) or nothing: (R, o).
  linear(x, W, b = null) {
    const { rows: size, cols } = W;
    const forward = (y) => {
      products(x, W, y);
      if (b) for (let at = 0; at < y.length; at += size) add(y, at, 1, b.data, 0, size);
    };
    return this.make(x.rows, size, forward, (g) => {
      spread(g, W.data, x.grad, x.rows, size, cols, size, 1);
      spread(g, x.data, W.grad, size, x.rows, cols, 1, size);
      if (b) for (let at = 0; at < g.length; at += size) add(b.grad, 0, 1, g, at, size);
    });
  }

  // One of CURVES, number by number.
  curve(name, x) {
    const [value, slope] = CURVES[name];
    const forward = (z) => {
      for (let at = 0; at < z.length; at++) z[at] = value(x.data[at]);
    };
    return this.make(x.rows, x.cols, forward, (g, z) => {
      for (let at = 0; at < g.length; at++) x.grad[at] += g[at] * slope(z[at], x.data[at]);
    });
  }

  // One of PAIRS, number by number; fewer rows and a single column are repeated.
  pair(sign, x, y) {
    const [value, forX, forY] = PAIRS[sign];
    const [rows, cols] = [Math.max(x.rows, y.rows), Math.max(x.cols, y.cols)];
    const [a, b] = [x, y].map((one) => this.repeat(one, rows, cols));
    const forward = (z) => {
      for (let at = 0; at < z.length; at++) z[at] = value(a.data[at], b.data[at]);
    };
    return this.make(rows, cols, forward, (g) => {
      for (let at = 0; at < g.length; at++) {
        a.grad[at] += g[at] * forX(a.data[at], b.data[at]);
        b.grad[at] += g[at] * forY(a.data[at], b.data[at]);
      }
    });
  }

  // The dot product of each row of x with the row of y that belongs to it: (rows, 1).
  dot(x, y) {
    const rows = Math.max(x.rows, y.rows);
    const { cols } = x;
    const forward = (z, r) => (z[r] = inner(x.data, begin(x, r, rows), y.data, begin(y, r, rows), cols));
    return this.byRow(rows, 1, forward, (g, r) => {
      const [i, j] = [begin(x, r, rows), begin(y, r, rows)];
      add(x.grad, i, g[r], y.data, j, cols);
      add(y.grad, j, g[r], x.data, i, cols);
    });
  }

  // The weighted sum of each sentence's words: weights (B, S), values (B * S, cols): (B, cols).
  blend(weights, values) {
    const { rows, cols: S } = weights;
    const { cols } = values;
    const forward = (y, b, row) => {
      for (let s = b * S; s < (b + 1) * S; s++) add(y, row, weights.data[s], values.data, s * cols, cols);
    };
    return this.byRow(rows, cols, forward, (g, b, row) => {
      for (let s = b * S; s < (b + 1) * S; s++) {
        weights.grad[s] += inner(g, row, values.data, s * cols, cols);
        add(values.grad, s * cols, weights.data[s], g, row, cols);
      }
    });
  }

  // A gated recurrent unit (Cho et al. 2014): x (B, 3n), the inputs' share of reset gate, update
  // gate and candidate; u (B, 3n), the state's; h (B, n): the new state. The reset gate is applied
  // after the product, as in PyTorch: r * (U h), not U (r * h). h' = (1 - z) h + z candidate.
  gru(x, u, h) {
    const { rows, cols: n } = h;
    const gates = this.take(3 * rows * n);
    const forward = (y, _, row) => {
      for (let to = row, at = 3 * row; to < row + n; to++, at++) {
        const r = (gates[at] = sigmoid(x.data[at] + u.data[at]));
        const z = (gates[at + n] = sigmoid(x.data[at + n] + u.data[at + n]));
        const candidate = (gates[at + 2 * n] = Math.tanh(x.data[at + 2 * n] + r * u.data[at + 2 * n]));
        y[to] = (1 - z) * h.data[to] + z * candidate;
      }
    };
    return this.byRow(rows, n, forward, (g, _, row) => {
      for (let to = row, at = 3 * row; to < row + n; to++, at++) {
        const [r, z, candidate] = [gates[at], gates[at + n], gates[at + 2 * n]];
        const forCandidate = g[to] * z * (1 - candidate * candidate);
        const forR = forCandidate * u.data[at + 2 * n] * r * (1 - r);
        const forZ = g[to] * (candidate - h.data[to]) * z * (1 - z);
        h.grad[to] += g[to] * (1 - z);
        x.grad[at] += forR;
        u.grad[at] += forR;
        x.grad[at + n] += forZ;
        u.grad[at + n] += forZ;
        x.grad[at + 2 * n] += forCandidate;
        u.grad[at + 2 * n] += forCandidate * r;
      }
    });
  }

  // Softmax of each row over the places that keep(row, column) allows; zero elsewhere.
  softmax({ rows, cols, data, grad }, keep) {
    const forward = (y, r, row) => {
      let [most, sum] = [-Infinity, 0];
      for (let c = 0; c < cols; c++) if (keep(r, c)) most = Math.max(most, data[row + c]);
      for (let c = 0; c < cols; c++) if (keep(r, c)) sum += y[row + c] = Math.exp(data[row + c] - most);
      for (let c = 0; c < cols; c++) y[row + c] /= sum;
    };
    return this.byRow(rows, cols, forward, (g, r, row, y) => {
      const mean = inner(y, row, g, row, cols);
      for (let at = row; at < row + cols; at++) grad[at] += y[at] * (g[at] - mean);
    });
  }

  // The mean of -log softmax(logits)[id] over the rows whose id is not negative: (1, 1).
  surprise(logits, ids) {
    const { cols, grad } = logits;
    const p = this.softmax(logits, () => true).data;
    const counted = [...ids.entries()].filter(([, id]) => id >= 0);
    const forward = (y) => {
      y[0] = -counted.reduce((sum, [r, id]) => sum + Math.log(p[r * cols + id] + TINY), 0) / counted.length;
    };
    return this.make(1, 1, forward, ([g]) => {
      for (const [r, id] of counted) {
        add(grad, r * cols, g / counted.length, p, r * cols, cols);
        grad[r * cols + id] -= g / counted.length;
      }
    });
  }
}
