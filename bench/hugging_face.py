"""Flax models of Hugging Face's transformers, unchanged: stock beside a limit of a tenth.

    python bench/hugging_face.py                  every model, evaluation and gradients
    python bench/hugging_face.py gpt2 'bert*'     some
    python bench/hugging_face.py --list

Each model has random weights at a small size: two layers, 64 wide, a vocabulary of 5,003, sequences
of 257. `evaluation` is the loss without dropout, `gradients` those of the training loss with it. The
limit is arguments, results and a tenth of the temporaries that XLA reports of stock. Results are
compared with stock's, relative to the largest value of each array (of all arrays, where one is next
to nothing). A process for each model, in the environment of bench/hugging_face.txt.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys

import measure

HERE = pathlib.Path(__file__).resolve().parent
SHARE = 10  # of the temporaries: a tenth
VOCABULARY, WIDTH, LENGTH, TARGET, ROWS = 5003, 64, 257, 99, 3
IMAGE, PATCH, IMAGES, CAPTIONS = 96, 8, 24, 48
NEXT_TO_NOTHING = 1e-5  # of the largest value of all arrays

# names of the same sizes in different families of configurations
BERT = dict(hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256)
WORDS = dict(BERT, vocab_size=VOCABULARY, max_position_embeddings=512)
GPT = dict(vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=2, n_head=4)
T5 = dict(vocab_size=VOCABULARY, d_model=WIDTH, d_kv=16, d_ff=256, num_layers=2, num_heads=4,
          decoder_start_token_id=0)
LAYERS = {f"{part}_{what}": n for part in ("encoder", "decoder")
          for what, n in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 256))}
BART = dict(LAYERS, vocab_size=VOCABULARY, d_model=WIDTH, max_position_embeddings=512)
BART = dict(BART, pad_token_id=1, decoder_start_token_id=1, eos_token_id=2)
VIT = dict(BERT, image_size=IMAGE, patch_size=PATCH, num_labels=10)
DEEP = dict(embedding_size=16, hidden_sizes=[32, 64, 128], depths=[2, 2, 2], num_labels=10)

# name: kind of program, model, configuration, its arguments
MODELS = {
    "gpt2": ("next", "GPT2LMHeadModel", "GPT2Config", GPT),
    "gpt2-bf16": ("next", "GPT2LMHeadModel", "GPT2Config", GPT),
    "gpt-neo": ("next", "GPTNeoForCausalLM", "GPTNeoConfig",
                dict(vocab_size=VOCABULARY, hidden_size=WIDTH, num_layers=2, num_heads=4, window_size=64,
                     attention_types=[[["global", "local"], 1]])),
    "gpt-j": ("next", "GPTJForCausalLM", "GPTJConfig", dict(GPT, rotary_dim=8)),
    "llama": ("next", "LlamaForCausalLM", "LlamaConfig", WORDS),
    "mistral": ("next", "MistralForCausalLM", "MistralConfig",
                dict(WORDS, num_key_value_heads=2, sliding_window=100)),
    "gemma": ("next", "GemmaForCausalLM", "GemmaConfig",
              dict(WORDS, num_key_value_heads=1, head_dim=16)),
    "bloom": ("next", "BloomForCausalLM", "BloomConfig",
              dict(vocab_size=VOCABULARY, hidden_size=WIDTH, n_layer=2, n_head=4)),
    "xglm": ("next", "XGLMForCausalLM", "XGLMConfig",
             dict(vocab_size=VOCABULARY, d_model=WIDTH, ffn_dim=256, num_layers=2, attention_heads=4)),
    "bert": ("masked", "BertForMaskedLM", "BertConfig", WORDS),
    "roberta": ("masked", "RobertaForMaskedLM", "RobertaConfig", WORDS),
    "electra": ("masked", "ElectraForMaskedLM", "ElectraConfig", WORDS),
    "roformer": ("masked", "RoFormerForMaskedLM", "RoFormerConfig", WORDS),
    "albert": ("masked", "AlbertForMaskedLM", "AlbertConfig", WORDS),
    "distilbert": ("masked", "DistilBertForMaskedLM", "DistilBertConfig",
                   dict(vocab_size=VOCABULARY, dim=WIDTH, n_layers=2, n_heads=4, hidden_dim=256)),
    "bart": ("translated", "BartForConditionalGeneration", "BartConfig", BART),
    "mbart": ("translated", "MBartForConditionalGeneration", "MBartConfig", BART),
    "pegasus": ("translated", "PegasusForConditionalGeneration", "PegasusConfig", BART),
    "marian": ("translated", "MarianMTModel", "MarianConfig", BART),
    "blenderbot": ("translated", "BlenderbotForConditionalGeneration", "BlenderbotConfig", BART),
    "t5": ("translated", "T5ForConditionalGeneration", "T5Config", T5),
    "longt5": ("translated", "LongT5ForConditionalGeneration", "LongT5Config",
               dict(T5, local_radius=31)),
    "whisper": ("heard", "WhisperForConditionalGeneration", "WhisperConfig",
                dict(LAYERS, vocab_size=VOCABULARY, d_model=WIDTH, max_source_positions=300,
                     max_target_positions=100, num_mel_bins=80, pad_token_id=1, bos_token_id=2,
                     eos_token_id=2, decoder_start_token_id=1)),
    "vit": ("seen", "ViTForImageClassification", "ViTConfig", VIT),
    "beit": ("seen", "BeitForImageClassification", "BeitConfig",
             dict(VIT, use_relative_position_bias=True)),
    "resnet": ("seen", "ResNetForImageClassification", "ResNetConfig", dict(DEEP, layer_type="basic")),
    "regnet": ("seen", "RegNetForImageClassification", "RegNetConfig", dict(DEEP, groups_width=8)),
    "clip": ("matched", "CLIPModel", "CLIPConfig",
             dict(text_config=WORDS, projection_dim=32,
                  vision_config=dict(BERT, image_size=64, patch_size=PATCH))),
}


# ---- in the environment of hugging_face.txt ----
def cross_entropy(logits, labels):
    import jax
    import jax.numpy as jnp

    log_p = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(log_p, labels[..., None], -1).mean()


def random_words(generator, rows, length):
    return generator.integers(3, VOCABULARY - 3, (rows, length))


def random_numbers(generator, *shape):
    return generator.standard_normal(shape, dtype="float32")


def losses_of(kind, model, generator):
    """(the loss of parameters, data and what the model's call is told; the data)."""
    import numpy as np

    words = random_words(generator, ROWS, LENGTH)
    if kind == "next":
        return (lambda p, x, **told: cross_entropy(model(x, params=p, **told)[0][:, :-1], x[:, 1:]),
                [words])
    if kind == "masked":
        return lambda p, x, **told: cross_entropy(model(x, params=p, **told)[0], x), [words]
    if kind in ("translated", "heard"):
        targets = random_words(generator, ROWS, TARGET)
        read = random_numbers(generator, ROWS, 80, 600) if kind == "heard" else words

        def translated(p, x, y, **told):
            logits = model(x, decoder_input_ids=y, params=p, **told).logits
            return cross_entropy(logits[:, :-1], y[:, 1:])

        return translated, [read, targets]
    if kind == "matched":
        captions = random_words(generator, CAPTIONS, 33)

        def matched(p, x, y, **told):
            logits, same = model(x, y, params=p, **told).logits_per_image, np.arange(CAPTIONS)
            return cross_entropy(logits, same) + cross_entropy(logits.T, same)

        return matched, [captions, random_numbers(generator, CAPTIONS, 3, 64, 64)]
    assert kind == "seen"

    def seen(p, x, **told):
        out = model(x, params=p, **told)
        logits = out[0] if isinstance(out, tuple) else out
        logits = logits.logits if hasattr(logits, "logits") else logits[0]
        return (logits.astype("float32") ** 2).mean()

    return seen, [random_numbers(generator, IMAGES, 3, IMAGE, IMAGE)]


def with_old_clip():
    """transformers 4 calls jnp.clip with names of arguments that JAX has dropped."""
    import jax.numpy as jnp

    clip = jnp.clip

    def named(a, min=None, max=None, *, a_min=None, a_max=None):
        return clip(a, a_min if min is None else min, a_max if max is None else max)

    jnp.clip = named


def programs_of(name):
    """Name, function and arguments of evaluation and gradients."""
    import jax
    import numpy as np
    import transformers

    with_old_clip()
    transformers.logging.set_verbosity_error()
    kind, model, configuration, given = MODELS[name]
    told = {"dtype": jax.numpy.bfloat16} if name.endswith("bf16") else {}
    if kind == "seen":
        told["input_shape"] = (1, IMAGE, IMAGE, 3)
    if kind == "heard":
        told["input_shape"] = (1, 80, 600)
    built = getattr(transformers, f"Flax{model}")(
        getattr(transformers, configuration)(**given), seed=0, **told)
    loss, data = losses_of(kind, built, np.random.default_rng(0))
    has_dropout = name not in ("resnet", "regnet")

    def trained(p, key, *data):
        return loss(p, *data, train=True, **({"dropout_rng": key} if has_dropout else {}))

    yield "evaluation", lambda p, *data: loss(p, *data, train=False), [built.params, *data]
    gradients = jax.grad(trained, allow_int=True)
    yield "gradients", gradients, [built.params, jax.random.key(1), *data]


def numbers_of(tree):
    import jax
    import numpy as np

    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    return [a.astype(np.float64) for a in arrays if a.dtype.kind != "V" and a.size]


def difference(got, expected):
    import numpy as np

    largest = [np.abs(a).max() for a in expected]
    floor = NEXT_TO_NOTHING * max(largest)
    pairs = zip(got, expected, largest)
    return max(float(np.abs(a - b).max() / max(most, floor)) for a, b, most in pairs)


def compiled(function, arguments):
    program, spent = measure.compiled(function, arguments)
    is_of = program.memory_analysis()
    held = is_of.argument_size_in_bytes + is_of.output_size_in_bytes
    return program, {"compile": spent, "held": held, "temporaries": is_of.temp_size_in_bytes}


def run(program, arguments):
    import jax

    return measure.least_cpu(lambda: jax.block_until_ready(program(*arguments)))


def work(name):
    import jax
    import weir

    for what, function, arguments in programs_of(name):
        program, stock = compiled(function, arguments)
        stock["cpu"], expected = run(program, arguments)
        limit = stock["held"] + stock["temporaries"] // SHARE
        row = {"name": name, "what": what, "stock": stock, "limit": limit}
        try:
            with weir.limit(limit):
                program, row["weir"] = compiled(function, arguments)
            row["weir"]["cpu"], got = run(program, arguments)
            row["off"] = difference(numbers_of(got), numbers_of(expected))
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED: weir" not in str(error):
                raise
            row["refused"] = str(error).split("set it to ")[-1].split(" or more")[0]
        print(json.dumps(row), flush=True)


# ---- outside of it ----
def rows_of(name):
    import environments

    environment = dict(os.environ, PYTHONPATH=str(HERE.parent / "python"), JAX_PLATFORMS="cpu")
    command = [environments.python_of("hugging_face"), __file__, "--worker", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def line_of(row):
    stock, ours = row["stock"], row.get("weir")
    least = f"{stock['temporaries'] / 1e6:.1f}"
    if not ours:
        held = (int(row["refused"]) - stock["held"]) / 1e6
        return f"| {row['name']} | {row['what']} | {least} | refused: {held:.1f} | | | |"
    compiled_in = f"{stock['compile']:.1f}, {ours['compile']:.1f}"
    ratio = f"{ours['cpu'] / stock['cpu']:.2f}"
    return (f"| {row['name']} | {row['what']} | {least} | {ours['temporaries'] / 1e6:.2f} "
            f"| {ratio} | {compiled_in} | {row['off']:.0e} |")


def is_wrong(row):
    ours = row.get("weir")
    return bool(ours) and (ours["held"] + ours["temporaries"] > row["limit"] or row["off"] > 0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="patterns of models")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work(args.worker)
    names = [n for n in MODELS
             if not args.names or any(fnmatch.fnmatch(n, pattern) for pattern in args.names)]
    if args.list:
        return print("\n".join(names))
    print("| model | | stock's temporaries, MB | weir's | CPU time of a call, weir / stock "
          "| CPU s to compile, stock, weir | off |")
    print("|---|---|--:|--:|--:|--:|--:|")
    rows = []
    for name in names:
        for row in rows_of(name):
            rows.append(row)
            print(line_of(row), flush=True)
    held = [row for row in rows if "weir" in row]
    faster = sum(row["weir"]["cpu"] < row["stock"]["cpu"] for row in held)
    print(f"\n{len(held)} of {len(rows)} programs held, {faster} of them faster than stock")
    sys.exit(len(rows) < 2 * len(names) or any(map(is_wrong, rows)))


if __name__ == "__main__":
    main()
