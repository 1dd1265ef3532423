"""Prints pairs.json: pairs of texts, and what sacrebleu and rouge-score say of them."""
import json, random, sys
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from rouge_score import rouge_scorer

random.seed(20)
FIXED = [
    ("", ""), ("", "something"), ("something", ""), (" ", " "), ("\n", "a\nb"), ("a", "a"), ("a", "b"), ("A", "a"),
    ("the the the the", "the cat"), ("The cat sat on the mat.", "The cat sat on the mat."),
    ("The cat sat on the mat.", "the cat sat on the mat"), ("It costs $1,234.56 - or 3-4% more.", "It costs $1,234.56, or 3-4 % more."),
    ("1,000", "1000"), ("3.14159", "3.1416"), ("version 2.0-beta.1", "version 2.0 beta 1"), ("...", "!!!"), (".,.,", ",.,."),
    ("a-b-c 1-2-3", "a - b - c 1 - 2 - 3"), ("&quot;quoted&quot; &amp; &lt;tag&gt;", "\"quoted\" & <tag>"),
    ("<skipped>word", "word"), ("hyphen-\nated line", "hyphenated line"), ("tabs\tand\u00a0spaces\u3000wide", "tabs and spaces wide"),
    ("Ärger mit Übergrößen", "Ärger mit Übergrößen und Maßen"), ("straße", "strasse"), ("ΟΔΥΣΣΕΥΣ ταξιδεύει", "Ὀδυσσεύς ταξιδεύει"),
    ("今天天气很好。", "今天的天气真好。"), ("東京は晴れです", "東京は今日も晴れです"), ("안녕하세요 세계", "안녕 세계"),
    ("Привет, мир!", "Привет мир"), ("مرحبا بالعالم", "مرحبا يا عالم"), ("नमस्ते दुनिया", "नमस्ते, दुनिया!"),
    ("👍🏽 great 👩‍👩‍👧", "👍 great 👩‍👩‍👧"), ("e\u0301clair", "éclair"), ("İstanbul'da", "istanbul'da"), ("don't can't won't", "do not cannot will not"),
    ("(hi) [there] {you}", "hi there you"), ("'quoted'", "quoted"), ("C++ and C# and F#", "C++, C# and F#"),
    ("first line.\nsecond line.\nthird", "second line.\nfirst line.\nthird line"), ("one\n\n\ntwo", "one two"),
    ("x" * 200, "x" * 190), ("ab " * 60, "ab " * 55 + "ba"), ("email me@example.com now", "email you@example.com now"),
    ("http://example.com/a?b=c&d=e", "http://example.com/a?b=c"), ("50% of 20 is 10", "50 % of 20 is 10.0"),
    ("\x1cfs\x1fus", "fs us"), ("Kelvin \u212a", "kelvin k"), ("¿Qué tal? ¡Bien!", "Qué tal? Bien!"), ("œuvre naïve façade", "oeuvre naive facade"),
]
WORDS = {
    "en": "the a of to report model answer was is not and in customer order paid late refund within 3 days please thank you sorry we will".split(),
    "de": "der die das Bericht Kunde nicht und in zu bezahlt spät Erstattung innerhalb von 3 Tagen bitte danke wir werden größer".split(),
    "fr": "le la les rapport client n'est pas et dans payé tard remboursement sous 3 jours s'il vous plaît merci nous allons".split(),
    "ru": "отчёт клиент не и в оплачен поздно возврат за 3 дня пожалуйста спасибо мы будем это был заказ".split(),
    "mix": "ok 42 3.5 1,000 -7 (x) [y] re: 10% $5 a/b c_d e-f g.h i, j; k! l? \"m\" 'n' ü é ß 漢字 😀 …".split(),
}
PUNCT = ["", "", "", ".", ",", "!", "?", ";", ":", "...", "\n", " -", ")"]

def sentence(words, n):
    out = []
    for _ in range(n):
        word = random.choice(words)
        if random.random() < 0.15: word = word.capitalize()
        out.append(word + random.choice(PUNCT))
    return " ".join(out)

def variant(text, words):
    tokens = text.split(" ")
    for _ in range(random.randint(0, max(1, len(tokens) // 2))):
        act = random.random()
        at = random.randrange(len(tokens)) if tokens else 0
        if act < 0.3 and tokens: tokens[at] = random.choice(words)
        elif act < 0.5 and tokens: del tokens[at]
        elif act < 0.7: tokens.insert(at, random.choice(words))
        elif act < 0.85 and len(tokens) > 1:
            other = random.randrange(len(tokens)); tokens[at], tokens[other] = tokens[other], tokens[at]
        elif tokens: tokens[at] = tokens[at].upper() if random.random() < 0.5 else tokens[at].lower()
    return " ".join(tokens)

pairs = [(hyp, [ref]) for hyp, ref in FIXED]
while len(pairs) < 200:
    words = WORDS[random.choice(list(WORDS))]
    refs = [sentence(words, random.randint(1, 30))]
    if random.random() < 0.15: refs.append(variant(refs[0], words))
    pairs.append((variant(refs[0], words), refs))

scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"])
rows = []
for hyp, refs in pairs:
    rouge = scorer.score_multi(refs, hyp)
    rows.append({
        "output": hyp, "references": refs,
        "bleu": {
            "sentence": sacrebleu.sentence_bleu(hyp, refs).score,
            "corpus": BLEU().corpus_score([hyp], [[r] for r in refs]).score,
            "floor": BLEU(smooth_method="floor", effective_order=True).sentence_score(hyp, refs).score,
            "add-k": BLEU(smooth_method="add-k", effective_order=True).sentence_score(hyp, refs).score,
            "none": BLEU(smooth_method="none", effective_order=True).sentence_score(hyp, refs).score,
            "lowercase": BLEU(lowercase=True, effective_order=True).sentence_score(hyp, refs).score,
            "char": BLEU(tokenize="char", effective_order=True).sentence_score(hyp, refs).score,
            "order2": BLEU(max_ngram_order=2, effective_order=True).sentence_score(hyp, refs).score,
        },
        "chrf": {
            "chrf": CHRF().sentence_score(hyp, refs).score,
            "chrf++": CHRF(word_order=2).sentence_score(hyp, refs).score,
            "lowercase": CHRF(lowercase=True).sentence_score(hyp, refs).score,
            "whitespace": CHRF(whitespace=True, word_order=1).sentence_score(hyp, refs).score,
            "eps": CHRF(eps_smoothing=True, beta=1).sentence_score(hyp, refs).score,
        },
        "rouge": {k: [v.precision, v.recall, v.fmeasure] for k, v in rouge.items()},
    })
def plain(x):
    if isinstance(x, dict): return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list): return [plain(v) for v in x]
    return float(x) if not isinstance(x, str) else x
print("[")
print(",\n".join(json.dumps(plain(r), ensure_ascii=True) for r in rows))
print("]")
print(len(rows), file=sys.stderr)
