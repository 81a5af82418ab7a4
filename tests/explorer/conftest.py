"""A real browser for the tests of pages."""

from browsing import browser as browser
