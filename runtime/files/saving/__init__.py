"""Files of tensors, and the objects that have them: for checkpoints and saved models.

A file holds tensors in the safetensors format and a record in JSON, with checksums of
both (`tensor_file`). It appears whole or not at all (`atomic`). Which objects hold
state, and under which names, is said by `trackable`.
"""
