"""Serves one GGUF model in the OpenAI format on loopback until its input ends.

    server.py MODEL.gguf chat|text SLOTS

It takes a free port and prints its address when it is ready. "chat" uses the
model's own chat template, "text" passes the messages through as they are, which is
what a base model needs. The process that starts it holds the other end of its
standard input: when that process is gone, however it went, the server goes too.
"""

import os
import sys

import xllamacpp

# A base model goes on with a text; it knows no roles.
PASS_THROUGH = "{% for message in messages %}{{ message.content }}{% endfor %}"


def main():
    model, form, slots = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = int(slots)
    if params.n_parallel > 1:
        # Each slot keeps what it read, so that the examples are read once.
        params.swa_full = True
    # Two threads on a busy machine of two cores are many times slower than one.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers = 0
    params.warmup = False
    params.use_jinja = True
    if form == "text":
        params.chat_template = PASS_THROUGH
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # An orderly end would wait for whoever still asks.
    os._exit(0)


main()
