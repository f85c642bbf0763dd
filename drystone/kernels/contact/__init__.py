"""One contact: its law solved exactly, sweeps over many, residuals."""
