"""The explorer, `goldrank serve`: pages that show the queries of systems, why they lost, and let people judge.

| file | content |
|---|---|
| `app` `security` | routes; who gets in, and what pages may do |
| `session` `live` | judgements, systems and values; values that move with judgements |
| `first_documents` `document_texts` `snippets` | first documents; texts by id; the shown part of a text |
| `sides` `ladder` | what each rank adds to a value; two rankings side by side |
| `*_page` | one file per page: from the session to the values of its template; routes of judging, and of a history |
| `pages` `addresses` | templates; addresses |
| `judging_session` | judgements in, queue, undo |
| `site` | the pages as files |
"""

COMMANDS = {
    "serve": (
        "look",
        "goldrank.explorer.serve_command",
        "Show queries in the browser: why they got worse, and which documents are unjudged.",
    ),
}
