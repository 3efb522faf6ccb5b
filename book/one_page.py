# A whole translator on one page
import math
import os
import random
import time
from collections import Counter

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from attnmt import DataUnavailable, grammar_corpus, multi30k  # only for the sentences

torch.set_num_threads(1)
QUICK = os.environ.get("ATTNMT_SIZE") == "quick"  # tests only run the code
PAIRS = 500 if QUICK else 6_000  # sets how long the page runs
print(f"This page trains on {PAIRS:,} pairs of sentences.")


# 1. Sentences
try:
    corpus = multi30k("de-en", train=PAIRS)
except DataUnavailable:
    corpus = grammar_corpus(train=PAIRS, lengths=(4, 8))
train = [(pair.source, pair.target) for pair in corpus.train]
test = [(pair.source, pair.target) for pair in corpus.test[:1_000]]

words = sum(len(source) for source, _ in train)
print(f"{corpus.name}: {len(train):,} pairs, {words / len(train):.1f} words each")
ours = "ein alter mann mit rotem hut spielt im park gitarre .".split()  # our own


# 2. Vocabulary: from words to numbers
PAD, UNK, BOS, EOS = range(4)


def vocabulary(sentences, size=4_092):
    counts = Counter(word for words in sentences for word in words)
    by_frequency = sorted(counts, key=lambda word: (-counts[word], word))
    words = ["<pad>", "<unk>", "<s>", "</s>", *by_frequency[:size]]
    return words, {word: number for number, word in enumerate(words)}


x_words, x_index = vocabulary(source for source, _ in train)
y_words, y_index = vocabulary(target for _, target in train)
print(f"{len(x_words):,} German and {len(y_words):,} English words")
print([x_index.get(word, UNK) for word in ours])


# 3. Batches: several sentences at once
def pad(rows):
    rows = [torch.tensor(row) for row in rows]
    return pad_sequence(rows, batch_first=True, padding_value=PAD)


def make_batch(pairs):
    x = [[x_index.get(word, UNK) for word in words] for words, _ in pairs]
    y = [[BOS, *(y_index.get(word, UNK) for word in words), EOS] for _, words in pairs]
    return pad(x), pad(y)  # (B, S), (B, 1 + T)


def batches(pairs, size):
    pairs = random.sample(pairs, len(pairs))  # in a new order
    pairs.sort(key=lambda pair: (len(pair[1]), len(pair[0])))
    groups = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    return [make_batch(group) for group in random.sample(groups, len(groups))]


two = [(ours, ["an", "old", "man"]), (["ein", "hund", "."], ["a", "dog", "."])]
x, y = make_batch(two)
print(x)  # (2, 11)


# 4. Parameters
def linear(columns, rows):  # a matrix without a bias
    return nn.Linear(columns, rows, bias=False)


def parameters(n=64, m=64, l=64):  # sizes of a state, an embedding, the maxout layer
    d = 2 * n  # the size of an annotation: two directions
    p = nn.Module()  # a box with the names below
    p.E_x, p.E_y = nn.Embedding(len(x_words), m), nn.Embedding(len(y_words), m)
    p.encoder = nn.GRU(m, n, batch_first=True, bidirectional=True)
    p.W_s = nn.Linear(n, n)  # the first state
    p.W_a, p.U_a, p.v_a = linear(n, n), linear(d, n), linear(n, 1)  # attention
    p.W_z, p.U_z, p.C_z = nn.Linear(m, n), linear(n, n), linear(d, n)  # update gate
    p.W_r, p.U_r, p.C_r = nn.Linear(m, n), linear(n, n), linear(d, n)  # reset gate
    p.W, p.U, p.C = nn.Linear(m, n), linear(n, n), linear(d, n)  # proposed state
    p.U_o, p.V_o, p.C_o = nn.Linear(n, 2 * l), linear(m, 2 * l), linear(d, 2 * l)
    p.W_o = nn.Linear(l, len(y_words))  # output
    for E in (p.E_x, p.E_y):
        nn.init.normal_(E.weight, std=0.1)  # PyTorch's 1 learns more slowly here
    return p


torch.manual_seed(0)
random.seed(0)
p = parameters()
print(f"{sum(weights.numel() for weights in p.parameters()):,} numbers")


# 5. Encoder: read
def encode(x):
    mask = x != PAD  # (B, S), True = a real word
    real = pack_padded_sequence(
        p.E_x(x), mask.sum(1), batch_first=True, enforce_sorted=False
    )
    states, last = p.encoder(real)
    h, _ = pad_packed_sequence(states, batch_first=True)  # (B, S, 2n)
    s_0 = torch.tanh(p.W_s(last[-1]))  # (B, n)
    return s_0, (h, p.U_a(h), mask)  # U_a h_j is the same at every step: computed once


s, memory = encode(x)
print("annotations", tuple(memory[0].shape), "and s_0", tuple(s.shape))


# 6. Attention: score, weigh, blend
def attend(s, memory):
    h, Uh, mask = memory
    e = p.v_a(torch.tanh(p.W_a(s)[:, None] + Uh)).squeeze(2)  # (B, S) score
    alpha = e.masked_fill(~mask, -torch.inf).softmax(1)  # (B, S) weigh
    c = (alpha[:, None] @ h).squeeze(1)  # (B, 2n) blend
    return c, alpha


_, alpha = attend(s, memory)
print(alpha.detach().numpy().round(2))


# 7. Decoder: write one word
def step(y, s, memory):
    Ey = p.E_y(y)  # (B, m)
    c, alpha = attend(s, memory)
    z = torch.sigmoid(p.W_z(Ey) + p.U_z(s) + p.C_z(c))  # (B, n) how much is new
    r = torch.sigmoid(p.W_r(Ey) + p.U_r(s) + p.C_r(c))  # (B, n) how much still counts
    s_tilde = torch.tanh(p.W(Ey) + p.U(r * s) + p.C(c))  # (B, n)
    t_tilde = p.U_o(s) + p.V_o(Ey) + p.C_o(c)  # (B, 2l)
    t = t_tilde.unflatten(1, (-1, 2)).amax(2)  # (B, l)
    return t, alpha, (1 - z) * s + z * s_tilde


t, alpha, s = step(torch.tensor([BOS, BOS]), s, memory)
print(f"{p.W_o(t).shape[1]:,} scores for the next word, in each of {len(t)} sentences")


# 8. Loss: how wrong is it?
def loss_of(x, y):
    s, memory = encode(x)
    outputs = []
    for y_prev in y[:, :-1].T:  # (B,)
        t, _, s = step(y_prev, s, memory)
        outputs.append(t)
    logits = p.W_o(torch.stack(outputs, 1))  # (B, T, V)
    return cross_entropy(logits.flatten(0, 1), y[:, 1:].flatten(), ignore_index=PAD)


print(f"untrained: {loss_of(x, y).item():.2f}; log V: {math.log(len(y_words)):.2f}")


# 9. Training
def fit(pairs, epochs=4, size=32, rate=4e-3, clip=1.0):
    adam = torch.optim.Adam(p.parameters(), fused=True)
    for epoch in range(1 if QUICK else epochs):
        start, total = time.process_time(), 0.0
        adam.param_groups[0]["lr"] = rate * min(1, 2.0 ** (1 - epoch))
        todo = batches(pairs, size)
        for x, y in todo:
            loss = loss_of(x, y)
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(p.parameters(), clip)
            adam.step()
            total += loss.item()
        mean, seconds = total / len(todo), time.process_time() - start
        print(f"epoch {epoch + 1}: loss {mean:.2f} ({seconds:.0f} CPU-seconds)")


fit(train)


# 10. Translate
@torch.no_grad()
def translate(source):
    x = torch.tensor([[x_index.get(word, UNK) for word in source]])  # B = 1
    s, memory = encode(x)
    y, written, alphas = torch.tensor([BOS]), [], []
    while y != EOS and len(written) < 2 * len(source) + 10:
        t, alpha, s = step(y, s, memory)
        y = p.W_o(t).argmax(1)  # (1,)
        written.append(y_words[y])
        alphas.append(alpha)
    return written, torch.cat(alphas)  # T words, (T, S)


print(*translate(ours)[0])


# 11. Where does it look?
def heat_map(source):
    target, alpha = translate(source)
    figure, axes = plt.subplots(figsize=(4.5, 4.5))
    axes.imshow(alpha, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(source)), source, rotation=60, ha="left")
    axes.set_yticks(range(len(target)), target)
    axes.xaxis.tick_top()


heat_map(ours)


# 12. How good is it?
from sacrebleu.metrics import BLEU

some = test[: 50 if QUICK else 1_000]
metric = BLEU(tokenize="none", force=True)  # the words are split already
found = [" ".join(translate(source)[0]).removesuffix(" </s>") for source, _ in some]
score = metric.corpus_score(found, [[" ".join(target) for _, target in some]])
print(f"BLEU {score.score:.1f} on {len(some):,} sentences")


print(metric.get_signature())


# The same code, other sentences
def begin(pairs):
    global x_words, x_index, y_words, y_index, p
    x_words, x_index = vocabulary(source for source, _ in pairs)
    y_words, y_index = vocabulary(target for _, target in pairs)
    torch.manual_seed(0)
    random.seed(0)
    p = parameters()


controlled = grammar_corpus(train=PAIRS, lengths=(4, 8), vocabulary_size=4_092)
train = [(pair.source, pair.target) for pair in controlled.train]
begin(train)
fit(train)


known = controlled.test[: 20 if QUICK else 200]


def exactly_right():
    found = [translate(pair.source)[0] for pair in known]
    right = sum(words == [*pair.target, "</s>"] for words, pair in zip(found, known))
    return f"{right} of {len(known)} new sentences exactly right"


whole = exactly_right()
print(whole)


heat_map("Anna hat den alten Hund gesehen .".split())


def mass_on_links():
    total, count = 0.0, 0
    for pair in known:
        x, y = make_batch([(pair.source, pair.target)])
        s, memory = encode(x)
        for i, y_prev in enumerate(y[0, :-2]):
            _, alpha, s = step(y_prev[None], s, memory)
            linked = [j for j, t in pair.sure if t == i]
            total += alpha[0, linked].sum().item() if linked else 0.0
            count += bool(linked)
    return total / count


with torch.no_grad():
    mass = mass_on_links()
print(f"{mass:.0%} of the weight is on words that belong together")


# Break it
kept = p.v_a.weight.detach().clone()
p.v_a.weight.data.zero_()
no_comparison = exactly_right()
p.v_a.weight.data.copy_(kept)
print("v_a = 0:", no_comparison)


whole_encode = encode


def encode(x):
    s_0, memory = whole_encode(x)
    return torch.zeros_like(s_0), memory


no_start = exactly_right()
print("s_0 = 0:", no_start)
encode = whole_encode


def encode(x):
    s_0, (h, _, mask) = whole_encode(x)
    h = torch.cat([h[..., :64], torch.zeros_like(h[..., 64:])], 2)  # n = 64
    return s_0, (h, p.U_a(h), mask)


one_direction = exactly_right()
print("forward only:", one_direction)
encode = whole_encode


soft_attend = attend


def attend(s, memory):
    alpha = one_hot(soft_attend(s, memory)[1].argmax(1), memory[2].size(1)).float()
    return (alpha[:, None] @ memory[0]).squeeze(1), alpha


only_largest = exactly_right()
print("only the largest:", only_largest)
attend = soft_attend


def unmasked_attend(s, memory):
    h, Uh, mask = memory
    return soft_attend(s, (h, Uh, torch.ones_like(mask)))


def unmasked_encode(x):
    h, last = p.encoder(p.E_x(x))
    return torch.tanh(p.W_s(last[-1])), (h, p.U_a(h), x != PAD)


x, y = make_batch([(pair.source, pair.target) for pair in known])  # of all lengths
with torch.no_grad():
    masked = loss_of(x, y).item()
    attend, encode = unmasked_attend, unmasked_encode
    unmasked, no_mask = loss_of(x, y).item(), exactly_right()
    attend, encode = soft_attend, whole_encode
print("no mask:", no_mask)
print(f"loss of one padded batch: {masked:.2f} with the mask, {unmasked:.2f} without")


# Change it
import difflib
import inspect


def show_change(before, after):
    lines = [inspect.getsource(function).splitlines() for function in (before, after)]
    changes = list(difflib.unified_diff(*lines, lineterm="", n=0))[2:]
    print(*(line for line in changes if not line.startswith("@@")), sep="\n")


def fixed_attend(s, memory):
    h, Uh, mask = memory
    alpha = one_hot(mask.sum(1) - 1, mask.size(1)).float()  # (B, S) the last word
    c = (alpha[:, None] @ h).squeeze(1)  # (B, 2n) blend
    return c, alpha


show_change(soft_attend, fixed_attend)


trained = p  # for later
attend = fixed_attend
begin(train)
fit(train)
no_attention = exactly_right()
print(no_attention)
attend = soft_attend


def dot_attend(s, memory):
    h, Uh, mask = memory
    e = (h @ s[:, :, None]).squeeze(2)  # (B, S) score
    alpha = e.masked_fill(~mask, -torch.inf).softmax(1)  # (B, S) weigh
    c = (alpha[:, None] @ h).squeeze(1)  # (B, n) blend
    return c, alpha


def luong_step(y, s, memory):
    Ey = p.E_y(y)  # (B, m)
    z = torch.sigmoid(p.W_z(Ey) + p.U_z(s))  # (B, n) how much is new
    r = torch.sigmoid(p.W_r(Ey) + p.U_r(s))  # (B, n) how much still counts
    s_tilde = torch.tanh(p.W(Ey) + p.U(r * s))  # (B, n)
    s = (1 - z) * s + z * s_tilde
    c, alpha = attend(s, memory)
    t = torch.tanh(p.W_c(torch.cat([c, s], 1)))  # (B, n)
    return t, alpha, s


show_change(soft_attend, dot_attend)
show_change(step, luong_step)


def luong_parameters(n=64, m=64):
    p = nn.Module()
    p.E_x, p.E_y = nn.Embedding(len(x_words), m), nn.Embedding(len(y_words), m)
    p.encoder, p.U_a = nn.GRU(m, n, batch_first=True), nn.Identity()
    p.W_s = nn.Linear(n, n)
    p.W_z, p.U_z = nn.Linear(m, n), linear(n, n)
    p.W_r, p.U_r = nn.Linear(m, n), linear(n, n)
    p.W, p.U = nn.Linear(m, n), linear(n, n)
    p.W_c, p.W_o = linear(2 * n, n), nn.Linear(n, len(y_words))
    return p


rnnsearch_step = step
attend, step = dot_attend, luong_step
begin(train)
torch.manual_seed(0)
p = luong_parameters()
fit(train)
dot = exactly_right()
print(dot)


def feeding_step(y, s, memory):
    s, fed = s.chunk(2, 1)  # (B, n) each: the state, and t of the step before
    Ey = torch.cat([p.E_y(y), fed], 1)  # (B, m + n)
    z = torch.sigmoid(p.W_z(Ey) + p.U_z(s))  # (B, n) how much is new
    r = torch.sigmoid(p.W_r(Ey) + p.U_r(s))  # (B, n) how much still counts
    s_tilde = torch.tanh(p.W(Ey) + p.U(r * s))  # (B, n)
    s = (1 - z) * s + z * s_tilde
    c, alpha = attend(s, memory)
    t = torch.tanh(p.W_c(torch.cat([c, s], 1)))  # (B, n)
    return t, alpha, torch.cat([s, t], 1)


show_change(luong_step, feeding_step)


def encode(x):
    s_0, memory = whole_encode(x)
    return torch.cat([s_0, torch.zeros_like(s_0)], 1), memory  # nothing is fed at first


step = feeding_step
begin(train)
torch.manual_seed(0)
p = luong_parameters()
for name in ("W_z", "W_r", "W"):
    setattr(p, name, nn.Linear(128, 64))  # m + n
fit(train)
feeding = exactly_right()
print(feeding)
attend, step, encode = soft_attend, rnnsearch_step, whole_encode


# The bridge to the book
from attnmt import greedy, rnnsearch
from attnmt.batches import make_batch as package_batch

p = trained
model = rnnsearch(controlled, hidden=64, embedding=64, maxout=64)
encoder, decoder = model.encoder, model.decoder
assert x_words == list(model.source_vocabulary.words)
assert y_words == list(model.target_vocabulary.words)
copies = [
    (encoder.embedding.weight, p.E_x.weight),
    *zip(encoder.rnn.parameters(), p.encoder.parameters()),
    (decoder.embedding.weight, p.E_y.weight),
    (decoder.W_s.weight, p.W_s.weight),
    (decoder.W_s.bias, p.W_s.bias),
    (decoder.attention.score.W_a.weight, p.W_a.weight),
    (decoder.attention.score.U_a.weight, p.U_a.weight),
    (decoder.attention.score.v_a.weight, p.v_a.weight),
    (decoder.W_gates.weight, torch.cat([p.W_z.weight, p.W_r.weight, p.W.weight])),
    (decoder.W_gates.bias, torch.cat([p.W_z.bias, p.W_r.bias, p.W.bias])),
    (decoder.C_gates.weight, torch.cat([p.C_z.weight, p.C_r.weight, p.C.weight])),
    (decoder.U_zr.weight, torch.cat([p.U_z.weight, p.U_r.weight])),
    (decoder.U.weight, p.U.weight),
    (decoder.maxout.weight, torch.cat([p.U_o.weight, p.V_o.weight, p.C_o.weight], 1)),
    (decoder.maxout.bias, p.U_o.bias),
    (decoder.W_o.weight, p.W_o.weight),
    (decoder.W_o.bias, p.W_o.bias),
]
with torch.no_grad():
    for weights, copied in copies:
        weights.copy_(copied)
    assert len(copies) == len(list(model.parameters()))  # none is left out


model.double(), p.double()
with torch.no_grad():
    batch = package_batch(known, model.source_vocabulary, model.target_vocabulary)
    package_loss = model.token_losses(batch).mean().item()
    x, y = make_batch([(pair.source, pair.target) for pair in known])
    page_loss = loss_of(x, y).item()
assert abs(package_loss - page_loss) < 1e-12
for pair, found in zip(known, greedy(model, [pair.source for pair in known])):
    words, alpha = translate(pair.source)
    ended = words[-1] == "</s>"
    assert found.words == words[: len(words) - ended]
    assert abs(alpha[: len(found.words)].numpy() - found.alignment).max() < 1e-5
print(f"the same loss, words and weights for all {len(known)} sentences")
