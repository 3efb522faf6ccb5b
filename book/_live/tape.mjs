// A tape: it computes with matrices, notes how, and goes back over its notes for the gradients.
//
//   const tape = new Tape();
//   const loss = tape.surprise(tape.linear(x, W, b), ids);
//   tape.backward(loss);      // W.grad, b.grad and x.grad are filled
//   tape.clear();             // what was computed is forgotten; parameters are not on the tape
//
// A matrix is { rows, cols, data, grad }, row after row. Matrices of one row for each sentence (B),
// for each source word of each sentence (B * S, a sentence's words together), and of one row alone
// meet in one operation: the fewer rows are repeated. Operations on columns repeat a single column.

const CHUNK = 1 << 18; // numbers that are taken from the system at once

export function matrix(rows, cols, Numbers = Float32Array) {
  return { rows, cols, data: new Numbers(rows * cols), grad: new Numbers(rows * cols) };
}

// Which row of a matrix of `few` rows belongs to row r of `many`.
const groups = (few, many) => (few === many ? 1 : many / few);

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

// name -> [value, slope from the value and the argument]
export const CURVES = {
  tanh: [Math.tanh, (y) => 1 - y * y],
  sigmoid: [sigmoid, (y) => y * (1 - y)],
  relu: [(x) => (x > 0 ? x : 0), (y) => (y > 0 ? 1 : 0)],
  exp: [Math.exp, (y) => y],
  abs: [Math.abs, (y, x) => Math.sign(x)],
  sqrt: [Math.sqrt, (y) => 0.5 / y],
};

// name -> [value, slope for x, slope for y]
const PAIRS = {
  "+": [(x, y) => x + y, () => 1, () => 1],
  "-": [(x, y) => x - y, () => 1, () => -1],
  "*": [(x, y) => x * y, (x, y) => y, (x) => x],
  "/": [(x, y) => x / y, (x, y) => 1 / y, (x, y) => -x / (y * y)],
};

// Nearly all time is spent in the next two, so they take four rows at once.

// y[r][k] = b[k] + sum_c x[r][c] W[k][c]
function forwards(x, W, b, y) {
  const { rows, cols } = x;
  const [xd, Wd, yd] = [x.data, W.data, y.data];
  const o = W.rows;
  for (let r = 0; r < rows; r++) {
    const row = r * cols;
    let k = 0;
    for (; k + 3 < o; k += 4) {
      let [w0, w1, w2, w3] = [k * cols, (k + 1) * cols, (k + 2) * cols, (k + 3) * cols];
      let [s0, s1, s2, s3] = [0, 0, 0, 0];
      for (let at = row; at < row + cols; at++) {
        const value = xd[at];
        s0 += value * Wd[w0++];
        s1 += value * Wd[w1++];
        s2 += value * Wd[w2++];
        s3 += value * Wd[w3++];
      }
      const to = r * o + k;
      yd[to] = s0;
      yd[to + 1] = s1;
      yd[to + 2] = s2;
      yd[to + 3] = s3;
    }
    for (; k < o; k++) {
      let sum = 0;
      for (let c = 0; c < cols; c++) sum += xd[row + c] * Wd[k * cols + c];
      yd[r * o + k] = sum;
    }
    if (b) for (k = 0; k < o; k++) yd[r * o + k] += b.data[k];
  }
}

// to[m][c] += sum_k g(m, k) from[k][c], where g(m, k) is g[m * stepM + k * stepK]
function spread(g, from, to, rows, inner, cols, stepM, stepK) {
  for (let m = 0; m < rows; m++) {
    const row = m * cols;
    let k = 0;
    for (; k + 3 < inner; k += 4) {
      const at = m * stepM + k * stepK;
      const [g0, g1, g2, g3] = [g[at], g[at + stepK], g[at + 2 * stepK], g[at + 3 * stepK]];
      let [f0, f1, f2, f3] = [k * cols, (k + 1) * cols, (k + 2) * cols, (k + 3) * cols];
      for (let c = row; c < row + cols; c++)
        to[c] += g0 * from[f0++] + g1 * from[f1++] + g2 * from[f2++] + g3 * from[f3++];
    }
    for (; k < inner; k++) {
      const value = g[m * stepM + k * stepK];
      for (let c = 0; c < cols; c++) to[row + c] += value * from[k * cols + c];
    }
  }
}

export class Tape {
  constructor(Numbers = Float32Array) {
    this.Numbers = Numbers;
    this.recording = true;
    this.steps = [];
    this.chunks = [];
    this.chunk = 0; // which one numbers are taken from, and how many of it are taken
    this.taken = 0;
  }

  clear() {
    this.steps.length = 0;
    this.chunks.forEach((numbers, at) => at <= this.chunk && numbers.fill(0));
    this.chunk = this.taken = 0;
  }

  take(size) {
    if (this.chunks.length && this.taken + size > this.chunks[this.chunk].length) {
      this.chunk++;
      this.taken = 0;
    }
    if (this.chunk === this.chunks.length) this.chunks.push(new this.Numbers(Math.max(size, CHUNK)));
    if (size > this.chunks[this.chunk].length) this.chunks[this.chunk] = new this.Numbers(size);
    this.taken += size;
    return this.chunks[this.chunk].subarray(this.taken - size, this.taken);
  }

  matrix(rows, cols) {
    const data = this.take(rows * cols);
    return { rows, cols, data, grad: this.recording ? this.take(rows * cols) : null };
  }

  note(backward) {
    if (this.recording) this.steps.push(backward);
  }

  backward(loss) {
    loss.grad[0] = 1;
    for (let at = this.steps.length - 1; at >= 0; at--) this.steps[at]();
  }

  constant(rows, cols, values) {
    const out = this.matrix(rows, cols);
    out.data.set(values);
    return out;
  }

  // Some rows of a matrix, which stay its own: nothing to note.
  slice(x, first, rows) {
    const part = (numbers) => numbers && numbers.subarray(first * x.cols, (first + rows) * x.cols);
    return { rows, cols: x.cols, data: part(x.data), grad: part(x.grad) };
  }

  // The same numbers in rows of another length.
  shape(x, rows, cols) {
    return { ...x, rows, cols };
  }

  // A matrix into which visits (from, i, at) bring number i of another as number `at`.
  moved(rows, cols, each) {
    const out = this.matrix(rows, cols);
    each((from, i, at) => (out.data[at] = from.data[i]));
    this.note(() => each((from, i, at) => (from.grad[i] += out.grad[at])));
    return out;
  }

  // The rows of a table that `ids` name: (ids, cols).
  lookup(table, ids) {
    const { cols } = table;
    return this.moved(ids.length, cols, (visit) => {
      for (let at = 0; at < ids.length * cols; at++)
        visit(table, ids[Math.floor(at / cols)] * cols + (at % cols), at);
    });
  }

  // x W^T + b: x (R, a), W (o, a), b (1, o) or nothing: (R, o).
  linear(x, W, b = null) {
    const out = this.matrix(x.rows, W.rows);
    forwards(x, W, b, out);
    this.note(() => {
      spread(out.grad, W.data, x.grad, x.rows, W.rows, x.cols, W.rows, 1);
      spread(out.grad, x.data, W.grad, W.rows, x.rows, x.cols, 1, W.rows);
      if (!b) return;
      for (let at = 0, k = 0; at < out.grad.length; at++, k = k + 1 === W.rows ? 0 : k + 1) b.grad[k] += out.grad[at];
    });
    return out;
  }

  // One of CURVES, number by number.
  curve(name, x) {
    const [value, slope] = CURVES[name];
    const out = this.matrix(x.rows, x.cols);
    for (let at = 0; at < x.data.length; at++) out.data[at] = value(x.data[at]);
    this.note(() => {
      for (let at = 0; at < x.data.length; at++)
        x.grad[at] += out.grad[at] * slope(out.data[at], x.data[at]);
    });
    return out;
  }

  // x + y, x - y, x * y or x / y, number by number; fewer rows and a single column are repeated.
  pair(sign, x, y) {
    const [value, forX, forY] = PAIRS[sign];
    const rows = Math.max(x.rows, y.rows);
    const cols = Math.max(x.cols, y.cols);
    const out = this.matrix(rows, cols);
    const [ofX, ofY] = [groups(x.rows, rows), groups(y.rows, rows)];
    const [stepX, stepY] = [x.cols === cols ? 1 : 0, y.cols === cols ? 1 : 0];
    const each = (visit) => {
      for (let r = 0, at = 0; r < rows; r++) {
        let [i, j] = [Math.floor(r / ofX) * x.cols, Math.floor(r / ofY) * y.cols];
        for (let c = 0; c < cols; c++, at++, i += stepX, j += stepY) visit(at, i, j);
      }
    };
    each((at, i, j) => (out.data[at] = value(x.data[i], y.data[j])));
    this.note(() =>
      each((at, i, j) => {
        x.grad[i] += out.grad[at] * forX(x.data[i], y.data[j]);
        y.grad[j] += out.grad[at] * forY(x.data[i], y.data[j]);
      }),
    );
    return out;
  }

  // The dot product of each row of x with the row of y that belongs to it: (rows, 1).
  dot(x, y) {
    const rows = Math.max(x.rows, y.rows);
    const { cols } = x;
    const out = this.matrix(rows, 1);
    const [ofX, ofY] = [groups(x.rows, rows), groups(y.rows, rows)];
    for (let r = 0; r < rows; r++) {
      const [i, j] = [Math.floor(r / ofX) * cols, Math.floor(r / ofY) * cols];
      let sum = 0;
      for (let c = 0; c < cols; c++) sum += x.data[i + c] * y.data[j + c];
      out.data[r] = sum;
    }
    this.note(() => {
      for (let r = 0; r < rows; r++) {
        const [i, j] = [Math.floor(r / ofX) * cols, Math.floor(r / ofY) * cols];
        const g = out.grad[r];
        for (let c = 0; c < cols; c++) {
          x.grad[i + c] += g * y.data[j + c];
          y.grad[j + c] += g * x.data[i + c];
        }
      }
    });
    return out;
  }

  // [x; y; ...]: the columns of all, side by side.
  join(parts) {
    const rows = Math.max(...parts.map((x) => x.rows));
    const cols = parts.reduce((sum, x) => sum + x.cols, 0);
    return this.moved(rows, cols, (visit) => {
      let left = 0;
      for (const x of parts) {
        for (let r = 0; r < rows; r++)
          for (let c = 0, i = Math.floor(r / (rows / x.rows)) * x.cols; c < x.cols; c++)
            visit(x, i + c, r * cols + left + c);
        left += x.cols;
      }
    });
  }

  // Matrices below one another: (sum of rows, cols).
  stack(parts) {
    const rows = parts.reduce((sum, x) => sum + x.rows, 0);
    return this.moved(rows, parts[0].cols, (visit) => {
      let at = 0;
      for (const x of parts) for (let i = 0; i < x.data.length; i++) visit(x, i, at++);
    });
  }

  // S matrices of a row for each sentence, as a row for each word: (B * S, cols).
  weave(words) {
    const S = words.length;
    const { rows: B, cols } = words[0];
    return this.moved(B * S, cols, (visit) =>
      words.forEach((x, j) => {
        for (let b = 0; b < B; b++)
          for (let c = 0; c < cols; c++) visit(x, b * cols + c, (b * S + j) * cols + c);
      }),
    );
  }

  // Number j of each row for the word j: x (B, at least S) gives (B * S, 1).
  place(x, S) {
    return this.moved(x.rows * S, 1, (visit) => {
      for (let at = 0; at < x.rows * S; at++) visit(x, Math.floor(at / S) * x.cols + (at % S), at);
    });
  }

  // A gated recurrent unit (Cho et al. 2014): x (B, 3n), the inputs' share of reset gate, update
  // gate and candidate; u (B, 3n), the state's; h (B, n): the new state. The reset gate is applied
  // after the product, as in PyTorch: r * (U h), not U (r * h). h' = (1 - z) h + z candidate.
  gru(x, u, h) {
    const { rows: B, cols: n } = h;
    const out = this.matrix(B, n);
    const gates = this.take(3 * B * n);
    for (let b = 0; b < B; b++)
      for (let c = 0; c < n; c++) {
        const [at, to] = [b * 3 * n + c, b * n + c];
        const r = sigmoid(x.data[at] + u.data[at]);
        const z = sigmoid(x.data[at + n] + u.data[at + n]);
        const candidate = Math.tanh(x.data[at + 2 * n] + r * u.data[at + 2 * n]);
        out.data[to] = (1 - z) * h.data[to] + z * candidate;
        gates[at] = r;
        gates[at + n] = z;
        gates[at + 2 * n] = candidate;
      }
    this.note(() => {
      for (let b = 0; b < B; b++)
        for (let c = 0; c < n; c++) {
          const [at, to] = [b * 3 * n + c, b * n + c];
          const [r, z, candidate] = [gates[at], gates[at + n], gates[at + 2 * n]];
          const g = out.grad[to];
          const inner = g * z * (1 - candidate * candidate);
          const forR = inner * u.data[at + 2 * n] * r * (1 - r);
          const forZ = g * (candidate - h.data[to]) * z * (1 - z);
          h.grad[to] += g * (1 - z);
          x.grad[at] += forR;
          u.grad[at] += forR;
          x.grad[at + n] += forZ;
          u.grad[at + n] += forZ;
          x.grad[at + 2 * n] += inner;
          u.grad[at + 2 * n] += inner * r;
        }
    });
    return out;
  }

  // Softmax of each row over the places that keep(row, column) allows; zero elsewhere.
  softmax(scores, keep) {
    const { rows, cols } = scores;
    const out = this.matrix(rows, cols);
    for (let r = 0; r < rows; r++) {
      let [most, sum] = [-Infinity, 0];
      for (let c = 0; c < cols; c++) if (keep(r, c)) most = Math.max(most, scores.data[r * cols + c]);
      for (let c = 0; c < cols; c++) {
        if (!keep(r, c)) continue;
        sum += out.data[r * cols + c] = Math.exp(scores.data[r * cols + c] - most);
      }
      for (let c = 0; c < cols; c++) if (sum !== 0) out.data[r * cols + c] /= sum;
    }
    this.note(() => {
      for (let r = 0; r < rows; r++) {
        let inner = 0;
        for (let at = r * cols; at < (r + 1) * cols; at++) inner += out.data[at] * out.grad[at];
        for (let at = r * cols; at < (r + 1) * cols; at++)
          scores.grad[at] += out.data[at] * (out.grad[at] - inner);
      }
    });
    return out;
  }

  // exp(-(s - p)^2 / (2 sigma^2)) for the places s = 0 ... S - 1: p (B, 1) gives (B, S).
  bell(p, S, sigma) {
    const out = this.matrix(p.rows, S);
    const each = (visit) => {
      for (let b = 0; b < p.rows; b++)
        for (let s = 0; s < S; s++) visit(b, b * S + s, (s - p.data[b]) / sigma);
    };
    each((b, at, apart) => (out.data[at] = Math.exp((-apart * apart) / 2)));
    this.note(() =>
      each((b, at, apart) => (p.grad[b] += (out.grad[at] * out.data[at] * apart) / sigma)),
    );
    return out;
  }

  // The weighted sum of each sentence's words: weights (B, S), values (B * S, cols): (B, cols).
  blend(weights, values) {
    const { rows: B, cols: S } = weights;
    const { cols } = values;
    const out = this.matrix(B, cols);
    for (let b = 0; b < B; b++)
      for (let s = 0; s < S; s++) {
        const weight = weights.data[b * S + s];
        const from = (b * S + s) * cols;
        for (let c = 0; c < cols; c++) out.data[b * cols + c] += weight * values.data[from + c];
      }
    this.note(() => {
      for (let b = 0; b < B; b++)
        for (let s = 0; s < S; s++) {
          const weight = weights.data[b * S + s];
          const from = (b * S + s) * cols;
          let sum = 0;
          for (let c = 0; c < cols; c++) {
            const g = out.grad[b * cols + c];
            sum += g * values.data[from + c];
            values.grad[from + c] += g * weight;
          }
          weights.grad[b * S + s] += sum;
        }
    });
    return out;
  }

  // The mean of -log softmax(logits)[id] over the rows whose id is not negative: (1, 1). Its
  // `best` holds each row's most probable id.
  surprise(logits, ids) {
    const { rows, cols } = logits;
    const out = this.matrix(1, 1);
    const p = this.take(rows * cols);
    const counted = ids.reduce((sum, id) => sum + (id >= 0), 0);
    out.best = new Int32Array(rows);
    let total = 0;
    for (let r = 0; r < rows; r++) {
      let best = 0;
      const row = logits.data.subarray(r * cols, (r + 1) * cols);
      for (let c = 1; c < cols; c++) if (row[c] > row[best]) best = c;
      let sum = 0;
      for (let c = 0; c < cols; c++) sum += p[r * cols + c] = Math.exp(row[c] - row[best]);
      for (let c = 0; c < cols; c++) p[r * cols + c] /= sum;
      if (ids[r] >= 0) total += Math.log(sum) - (row[ids[r]] - row[best]);
      out.best[r] = best;
    }
    out.data[0] = total / counted;
    this.note(() => {
      for (let r = 0; r < rows; r++) {
        if (ids[r] < 0) continue;
        const g = out.grad[0] / counted;
        for (let c = 0; c < cols; c++) logits.grad[r * cols + c] += g * p[r * cols + c];
        logits.grad[r * cols + ids[r]] -= g;
      }
    });
    return out;
  }
}
