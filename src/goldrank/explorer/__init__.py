"""The explorer, `goldrank serve`: pages that show the queries of systems, why they lost, and let people judge.

| file | what is in it |
|---|---|
| `app` `security` | routes; who gets in, and what pages may do |
| `session` `live` | what is shown: judgements, systems, values; values that move with judgements |
| `first_documents` `document_texts` `snippets` | first documents; texts by id; what is shown |
| `sides` `ladder` | what each rank adds to a value; two rankings side by side |
| `*_page` | one file per page: from the session to what its template shows; routes of judging, and of a history |
| `pages` `addresses` | templates; addresses |
| `judging_session` | judgements in, queue, undo |
| `site` | the same pages as files |
"""

COMMANDS = {
    "serve": (
        "look",
        "goldrank.explorer.serve_command",
        "Show queries in the browser: why they got worse, and what nobody judged.",
    ),
}
