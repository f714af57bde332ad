"""The network: the lowest layers of the encoder, and a linear head for each layer of labels and its attributes."""

import jax
import jax.numpy as jnp
import numpy as np

from material import ATTRIBUTES, LAYERS

EPSILON = 1e-12
KEPT = .9  # dropout keeps so much


def normal(x, gain, shift):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + EPSILON) * gain + shift


def thinned(x, key):
    return x if key is None else x * jax.random.bernoulli(key, KEPT, x.shape) / KEPT


def layer(weights, x, mask, heads, key=None):
    batch, length, width = x.shape
    first, second = (None, None) if key is None else jax.random.split(key)
    split = lambda y: y.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)
    query, keys, value = map(split, jnp.split(x @ weights['qkv'] + weights['qkv_bias'], 3, -1))
    score = jnp.einsum('bhtd,bhsd->bhts', query, keys) / np.sqrt(width // heads)
    share = jax.nn.softmax(jnp.where(mask[:, None, None, :], score, -1e9), -1)
    mixed = jnp.einsum('bhts,bhsd->bhtd', share, value).transpose(0, 2, 1, 3).reshape(batch, length, width)
    x = normal(x + thinned(mixed @ weights['out'] + weights['out_bias'], first), weights['gain1'], weights['shift1'])
    inner = jax.nn.gelu(x @ weights['up'] + weights['up_bias'], approximate=False)
    return normal(x + thinned(inner @ weights['down'] + weights['down_bias'], second), weights['gain2'], weights['shift2'])


def heads(width, random):
    sizes = {name: 1 + 2 * len(kinds) for name, kinds in LAYERS.items()}
    sizes |= {name + '.attributes': sum(map(len, ATTRIBUTES.values())) for name in ('names', 'clauses')}
    return {name: {'weight': random.normal(0, .02, (width, size)).astype(np.float32), 'bias': np.zeros(size, np.float32)} for name, size in sizes.items()}


def forward(parameters, vectors, mask, head_count, frozen=0, key=None):
    """Scores of each head for vectors of pieces (batch × length × width). The lowest `frozen` layers do not learn."""
    body = parameters['body']
    x = normal(vectors + body['position'][:vectors.shape[1]], body['gain'], body['shift'])
    for number, weights in enumerate(body['layers']):
        own = None
        if key is not None and number >= frozen:
            key, own = jax.random.split(key)
        x = layer(weights, x, mask, head_count, own)
        if number < frozen:
            x = jax.lax.stop_gradient(x)
    return {name: x @ head['weight'] + head['bias'] for name, head in parameters['heads'].items()}
