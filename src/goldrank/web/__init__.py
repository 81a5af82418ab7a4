"""The explorer, `goldrank serve`: pages that show the queries of systems, why they lost, and let people judge.

| file | what is in it |
|---|---|
| `app` `security` | routes; who gets in, and what pages may do |
| `session` `live` | what is shown: judgements, systems, values; values that move with judgements |
| `heads` `texts` `text_index` `snippets` | first documents; texts by id; their places in files; what is shown |
| `sides` `ladder` | what each rank adds to a value; two rankings side by side |
| `*_page` | one file per page: from the session to what its template shows; routes of judging, and of a history |
| `pages` `addresses` | templates; addresses |
| `judging` | judgements in, queue, undo |
| `site` | the same pages as files |
"""
