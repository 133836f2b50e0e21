"""How Sphinx builds the site. `make docs` runs it, on a copy of the pages with the generated reference beside them."""

import os

import lastbit

project = "lastbit"
author = "lastbit authors"
copyright = "lastbit authors"
release = version = lastbit.__version__

extensions = ["myst_nb"]
root_doc = "docs/index"
exclude_patterns = ["README.md", *os.environ.get("LASTBIT_NOT_BUILT", "").split()]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
highlight_language = "none"

# A page that cannot run stops the build. What a page draws is drawn anew each time: numbers differ a little.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_execution_excludepatterns = os.environ.get("LASTBIT_NOT_EXECUTED", "").split()
nb_merge_streams = True

html_theme = "furo"
html_title = "lastbit"
html_static_path = ["docs/pictures"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"top_of_page_buttons": [], "navigation_with_keys": True}
# The copy of the pages is made for one build: there is nothing to edit behind it, and no network is needed to read it.
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
add_module_names = False
