"""The papers' equations in plain Python: loops over lists, in the papers' symbols and indices.

Nothing here is fast, and nothing is shared with the package but its numbers. A source sentence is
a list of annotations, each a list of numbers, without padding. Positions count from 0.
"""

import math


def sigma(x):
    return 1 / (1 + math.exp(-x))


def times(matrix, vector):
    """The product of a matrix and a vector."""
    return [sum(w * x for w, x in zip(row, vector, strict=True)) for row in matrix]


def plus(*vectors):
    return [sum(numbers) for numbers in zip(*vectors, strict=True)]


def softmax(scores):
    total = sum(math.exp(e) for e in scores)
    return [math.exp(e) / total for e in scores]


def rows(linear, pieces=1):
    """The weights of a linear layer as a list of rows, or the rows cut into equal pieces."""
    weights = linear.weight.tolist()
    size = len(weights) // pieces
    cut = [weights[k * size : (k + 1) * size] for k in range(pieces)]
    return cut[0] if pieces == 1 else cut


# ------------------------------------------------------------------------------------- attention


def additive(module, h_t, hbar_s, s):
    """v_a^T tanh(W_a h_t + U_a hbar_s)"""
    inner = plus(times(rows(module.W_a), h_t), times(rows(module.U_a), hbar_s))
    return times(rows(module.v_a), [math.tanh(x) for x in inner])[0]


def concat(module, h_t, hbar_s, s):
    """v_a^T tanh(W_a [h_t; hbar_s])"""
    inner = times(rows(module.W_a), [*h_t, *hbar_s])
    return times(rows(module.v_a), [math.tanh(x) for x in inner])[0]


def dot(module, h_t, hbar_s, s):
    """h_t^T hbar_s"""
    return sum(a * b for a, b in zip(h_t, hbar_s, strict=True))


def scaled_dot(module, h_t, hbar_s, s):
    """h_t^T hbar_s / sqrt(n)"""
    return dot(module, h_t, hbar_s, s) / math.sqrt(len(h_t))


def general(module, h_t, hbar_s, s):
    """h_t^T W_a hbar_s"""
    return dot(module, h_t, times(rows(module.W_a), hbar_s), s)


def location(module, h_t, hbar_s, s):
    """Row s of W_a h_t, whatever stands there; nothing behind the last row."""
    e = times(rows(module.W_a), h_t)
    return e[s] if s < len(e) else -math.inf


def everywhere(module, h_t, S, t):
    return dict.fromkeys(range(S), 1.0)


def local_m(module, h_t, S, t):
    """[p_t - D, p_t + D], p_t = t, which stays at the last word once t is behind it."""
    p_t = min(t, S - 1)
    return {s: 1.0 for s in range(S) if p_t - module.D <= s <= p_t + module.D}


def local_p(module, h_t, S, t):
    """[p_t - D, p_t + D], p_t = S sigma(v_p^T tanh(W_p h_t)); a Gaussian of sigma = D/2."""
    inner = [math.tanh(x) for x in times(rows(module.W_p), h_t)]
    p_t = S * sigma(times(rows(module.v_p), inner)[0])
    inside = [s for s in range(S) if p_t - module.D <= s <= p_t + module.D]
    return {s: math.exp(-((s - p_t) ** 2) / (2 * (module.D / 2) ** 2)) for s in inside}


SCORES = {
    "additive": additive,
    "concat": concat,
    "dot": dot,
    "scaled-dot": scaled_dot,
    "general": general,
    "location": location,
}
WINDOWS = {"global": everywhere, "local-m": local_m, "local-p": local_p}


def attend(kind, attention, h_t, hbar, t):
    """c_t and a_t. ``kind`` names score and window; the weights are not normalised again."""
    score, window = SCORES[kind[0]], WINDOWS[kind[1]]
    weight = window(attention.window, h_t, len(hbar), t)  # of each position in the window
    softmaxed = softmax([score(attention.score, h_t, hbar[s], s) for s in weight])
    a_t = [0.0] * len(hbar)
    for s, share in zip(weight, softmaxed, strict=True):
        a_t[s] = share * weight[s]
    c_t = [sum(a * hbar_s[k] for a, hbar_s in zip(a_t, hbar)) for k in range(len(hbar[0]))]
    return c_t, a_t


# -------------------------------------------------------------------------------------- decoders


def gru_decoder(decoder, kind, words, h, final):
    """Appendix A of Bahdanau et al. 2015: p(y_i | ...) and alpha_i for each i.

    ``words`` are the y_{i-1}; ``final`` is what s_0 is made of. A ``kind`` of None is RNNencdec:
    c_i is h_S at every step.
    """
    E = decoder.embedding.weight.tolist()
    (W_z, W_r, W), (C_z, C_r, C) = rows(decoder.W_gates, 3), rows(decoder.C_gates, 3)
    (U_z, U_r), U = rows(decoder.U_zr, 2), rows(decoder.U)
    n, biases = len(U), decoder.W_gates.bias.tolist()
    b_z, b_r, b = biases[:n], biases[n : 2 * n], biases[2 * n :]

    s_0 = plus(times(rows(decoder.W_s), final), decoder.W_s.bias.tolist())
    s_prev = [math.tanh(x) for x in s_0]
    distributions, alphas = [], []
    for i, y_prev in enumerate(words):
        c, alpha = (h[-1], None) if kind is None else attend(kind, decoder.attention, s_prev, h, i)
        Ey = E[y_prev]
        z = [sigma(x) for x in plus(times(W_z, Ey), times(U_z, s_prev), times(C_z, c), b_z)]
        r = [sigma(x) for x in plus(times(W_r, Ey), times(U_r, s_prev), times(C_r, c), b_r)]
        rs = [r_k * s_k for r_k, s_k in zip(r, s_prev)]  # before the product with U
        s_tilde = [math.tanh(x) for x in plus(times(W, Ey), times(U, rs), times(C, c), b)]
        s = [(1 - z_k) * s_k + z_k * new_k for z_k, s_k, new_k in zip(z, s_prev, s_tilde)]
        s_out = s_prev if decoder.output_state == "previous" else s
        t_tilde = times(rows(decoder.maxout), [*s_out, *Ey, *c])  # [U_o, V_o, C_o]
        t_tilde = plus(t_tilde, decoder.maxout.bias.tolist())
        t = [max(pair) for pair in zip(t_tilde[0::2], t_tilde[1::2])]
        energies = plus(times(rows(decoder.W_o), t), decoder.W_o.bias.tolist())
        distributions.append(softmax(energies))
        alphas.append(alpha)
        s_prev = s
    return distributions, alphas


def lstm(rnn, layer, x, h_prev, cell_prev):
    """One step of one layer: gates i, f, o and candidate g, which torch stacks as i, f, g, o."""
    weights = (getattr(rnn, f"{name}_l{layer}").tolist() for name in ("weight_ih", "weight_hh"))
    read, recur = (times(w, v) for w, v in zip(weights, (x, h_prev)))
    biases = (getattr(rnn, f"{name}_l{layer}").tolist() for name in ("bias_ih", "bias_hh"))
    total, n = plus(read, recur, *biases), len(h_prev)
    i, f, o = ([sigma(a) for a in total[k * n : (k + 1) * n]] for k in (0, 1, 3))
    g = [math.tanh(a) for a in total[2 * n : 3 * n]]
    cell = [f_k * c_k + i_k * g_k for f_k, c_k, i_k, g_k in zip(f, cell_prev, i, g)]
    return [o_k * math.tanh(c_k) for o_k, c_k in zip(o, cell)], cell


def lstm_decoder(decoder, kind, feeding, words, hbar, final):
    """Luong et al. 2015, section 3: h_t -> a_t -> c_t -> h~_t; p(y_t | ...) and a_t for each t.

    ``words`` are the y_{t-1}; ``final`` is h_0 and cell_0, layer by layer. A ``kind`` of None is
    Sutskever et al. 2014: h_t itself predicts.
    """
    E, (h, cell) = decoder.embedding.weight.tolist(), final
    h_tilde, distributions, aligns = [0.0] * len(h[0]), [], []
    for t, y_prev in enumerate(words):
        x = [*E[y_prev], *h_tilde] if feeding else E[y_prev]
        h_new, cell_new = [], []
        for layer in range(decoder.rnn.num_layers):
            x, of_layer = lstm(decoder.rnn, layer, x, h[layer], cell[layer])
            h_new.append(x)
            cell_new.append(of_layer)
        h, cell, h_t, a_t = h_new, cell_new, x, None
        if kind is None:
            h_tilde = h_t
        else:
            c_t, a_t = attend(kind, decoder.attention, h_t, hbar, t)
            h_tilde = [math.tanh(x) for x in times(rows(decoder.W_c), [*c_t, *h_t])]
        energies = plus(times(rows(decoder.W_out), h_tilde), decoder.W_out.bias.tolist())
        distributions.append(softmax(energies))
        aligns.append(a_t)
    return distributions, aligns
