"""Many devices and many machines: meshes, strategies, processes, DTensors."""
