"""What a value is: dtypes, shapes, specs, structures, devices. No tensors yet."""
