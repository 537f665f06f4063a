"""Keras on JAX: fit and predict of a transformer that guesses the next word, in single precision.

At the default size one batch has logits of 64 x 256 x 20,000: 1.3 GB, several times over in a step.
    WEIR_MEMORY_LIMIT=400MB python examples/keras_transformer.py
    python examples/keras_transformer.py --words 400 --length 64
"""

import argparse
import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras  # noqa: E402
import numpy as np  # noqa: E402

sizes = dict(rows=100, length=256, words=20_000, width=64)
BATCH = 64


def make_model(length, words, width):
    layers, inputs = keras.layers, keras.Input((length,), dtype="int32")
    x = layers.Embedding(words, width)(inputs)
    attended = layers.MultiHeadAttention(2, width // 2)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(x + layers.Dropout(0.1, seed=1)(attended))
    x = x + layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(x))
    model = keras.Model(inputs, layers.Dense(words)(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(1e-3, epsilon=1e-4), loss=loss)
    return model


def train(rows, length, words, width, epochs=2, on_batch=lambda loss: None):
    """The losses of the epochs and what the trained model predicts; the last batch is a partial one."""
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).integers(0, words, (rows, length))
    model, y = make_model(length, words, width), np.roll(x, -1, axis=1)
    said = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: on_batch(logs["loss"]))
    options = dict(batch_size=BATCH, epochs=epochs, callbacks=[said], verbose=0, shuffle=False)
    history = model.fit(x, y, **options).history
    return history["loss"], model.predict(x[: BATCH // 4], verbose=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in sizes.items():
        parser.add_argument("--" + name, type=int, default=value)
    losses, _ = train(**vars(parser.parse_args()))
    print("losses", " ".join(f"{loss:.6f}" for loss in losses))


if __name__ == "__main__":
    main()
