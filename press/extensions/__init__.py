"""What the pages need of Sphinx; `_config.yml` names the extensions."""
