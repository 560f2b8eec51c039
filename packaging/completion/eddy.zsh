#compdef eddy
# eddy.zsh - for zsh: commands and options of eddy. Made by tools/completion.

_eddy() {
        local curcontext=$curcontext
        local -a commands=(
                'batch:send a file of API requests, and write a file of answers'
                'check:examine a file of API requests, and send nothing'
                'retry:send those requests of batch again that failed'
                'sort:put answers into the order of their requests'
                'collect:join the answers of several runs, and check that none is missing'
                'select:a table'
                'fetch:fetch many URLs at a time, one line of JSON for each'
                'serve:a web server for the files in a folder'
                'mock:a web server that answers slowly, limits and fails on demand'
                'report:a page with plots about an output of batch'
                'draw:a timeline of a traced run: tasks, scopes, waits and cancels'
                'explore:run a program in many orders of its tasks, and print each outcome'
                'help:what a command does: eddy help fetch'
        )

        if ((CURRENT == 2)); then
                _describe command commands
                return
        fi
        local command=$words[2]
        shift words
        ((CURRENT--))
        case $command in
        batch)
                _arguments -S \
                        '*--format=[auto: csv if IN ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--id-column=[the column of CSV that is the id]:NAME: ' \
                        '*--skip-empty[leave out a line if all its fields that {{name}} refers to are empty, null or blank]' \
                        '*--shard=[send only the lines of shard i, from 0, of n shards of IN]:i:(auto)' \
                        '*--base-url=[prepend URL to each "url" that begins with /]:URL:_files' \
                        '*--url=[the URL of lines that are bare bodies, or rows of CSV]:URL: ' \
                        '*--body=[the body]:JSON:_files' \
                        '*--rows-per-request=[send up to N lines that differ only in the text "input" of their bodies as one request, for embeddings]:N: ' \
                        '*-X+[for lines without a method]:M: ' \
                        '*--method=[for lines without a method]:M: ' \
                        '*-H+[send this header, or those in FILE]:NAME: ' \
                        '*--header=[send this header, or those in FILE]:NAME: ' \
                        '*--api-key-env=[send "Authorization: Bearer KEY", only to the hosts of --base-url and --url]:NAME: ' \
                        '*--api-key-file=[send "Authorization: Bearer KEY", only to the hosts of --base-url and --url]:FILE:_files' \
                        '*--api-key-command=[send the key that this shell command prints]:CMD: ' \
                        '*--api-key-header=[send the key in this header instead]:NAME: ' \
                        '*--idempotency-header=[send this header, with a value that depends only on custom_id and the request, so that servers recognise repetitions]:NAME: ' \
                        '*-o+[write successful answers to FILE]:FILE:_files' \
                        '*--output=[write successful answers to FILE]:FILE:_files' \
                        '*--errors=[write all other results to FILE]:FILE:_files' \
                        '*--ok=[an answer is successful if EXPR holds]:EXPR: ' \
                        '*--schema=[an answer is successful only if this JSON Schema accepts it: the JSON in the content of a chat answer, or else the body]:FILE:_files' \
                        '*--accept-failed[accept failures that are final: all attempts were made, or the status is one that is not retried]' \
                        '*--accept-failed-ids=[accept failures of the ids in FILE: one per line, or lines of an errors file]:FILE:_files' \
                        '*--ordered[write answers in the order of the input]' \
                        '*--save=[save answers that are not JSON, such as audio and images, as files in DIR, named after the ids]:DIR:_files' \
                        '*--no-meta[leave out "x_meta", for strict readers of OpenAI'\''s format]' \
                        '*--on-changed=[if a request has changed since it was answered, stop before sending anything, or send it again]:stop:(stop send)' \
                        '*--log=[append one line of JSON for each attempt]:FILE:_files' \
                        '*--metrics=[serve a page for Prometheus during the run]:HOST: ' \
                        '*--progress=[show progress on stderr]:auto:(auto bar plain json off)' \
                        '*--summary=[the summary on stderr]:text:(text json)' \
                        '*--summary-file=[write that object to FILE when the run ends]:FILE:_files' \
                        '*-c+[requests at a time, 1 to 65536]:N:(auto)' \
                        '*--concurrency=[requests at a time, 1 to 65536]:N:(auto)' \
                        '*--ramp=[increase the number of requests to -c over this time]:D: ' \
                        '*--rpm=[requests or tokens per minute, for each base URL or host]:N: ' \
                        '*--tpm=[requests or tokens per minute, for each base URL or host]:N: ' \
                        '*--burst=[send at once what --rpm and --tpm allow in this time]:D: ' \
                        '*--timeout=[limit for one attempt, from the start of its connect]:D: ' \
                        '*--connect-timeout=[limit for name lookup, connect, proxy, TLS handshake]:D: ' \
                        '*--idle-timeout=[limit for a time in which no byte is sent or received]:D: ' \
                        '*-L[follow up to 10 redirects of a request that keep its method and body: 307 and 308, and for GET 301, 302 and 303 too]' \
                        '*--location[follow up to 10 redirects of a request that keep its method and body: 307 and 308, and for GET 301, 302 and 303 too]' \
                        '*--max-attempts=[attempts for each request, including the first]:N: ' \
                        '*--retry-if=[attempt again also if EXPR holds, written as for --ok]:EXPR: ' \
                        '*--retry-base=[longest random wait before the second attempt, and before any attempt]:D: ' \
                        '*--retry-max=[longest random wait before the second attempt, and before any attempt]:D: ' \
                        '*--max-throttle-wait=[stop using a server that refuses requests for longer]:D: ' \
                        '*--limit=[send at most N requests]:N: ' \
                        '*--max-errors=[end after more than N failed requests]:N: ' \
                        '*--price=[prices of a million tokens, such as 0.15/0.60]:IN: ' \
                        '*--max-cost=[end when the answers have cost this much]:AMOUNT: ' \
                        '*--deadline=[end after this time]:D: ' \
                        '*--cacert=[trust the certificates in FILE]:FILE:_files' \
                        '*--cert=[this program'\''s own certificate and its key]:FILE:_files' \
                        '*--key=[this program'\''s own certificate and its key]:FILE:_files' \
                        '*-k[accept any certificate: anyone can then read and change what is sent]' \
                        '*--insecure[accept any certificate: anyone can then read and change what is sent]' \
                        '*--proxy=[use this proxy, \[http://|socks5://\]\[USER:PASSWORD@\]HOST\[:PORT\], in place of those of the environment]:URL: ' \
                        '*--unix-socket=[connect to this Unix socket for every URL, without a proxy]:PATH:_files' \
                        '*--resolve=[connect to ADDRESS for this host and port]:HOST: ' \
                        '*--http1[do not offer HTTP/2 to https servers]' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        check)
                _arguments -S \
                        '*-o+[the file of answers, which need not exist and is not changed: requests with an answer in OUT are not counted]:OUT: ' \
                        '*--output=[the file of answers, which need not exist and is not changed: requests with an answer in OUT are not counted]:OUT: ' \
                        '*--errors=[the errors file of eddy batch, whose answers that are successful count too]:FILE:_files' \
                        '*--format=[auto: csv if IN ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--id-column=[the column of CSV that is the id]:NAME: ' \
                        '*--skip-empty[leave out a line if all its fields that {{name}} refers to are empty, null or blank]' \
                        '*--shard=[only the lines of this shard, with its part of --rpm and --tpm]:i:(auto)' \
                        '*--url=[the URL of lines that are bare bodies, or rows of CSV]:URL: ' \
                        '*--body=[the body]:JSON:_files' \
                        '*--rows-per-request=[also count the requests of up to N lines each]:N: ' \
                        '*-H+[as for eddy batch]:NAME: ' \
                        '*--header=[as for eddy batch]:NAME: ' \
                        '*-X+[for lines without a method]:M: ' \
                        '*--method=[for lines without a method]:M: ' \
                        '*--ok=[answers in OUT that do not meet them count as failures]:EXPR: ' \
                        '*--schema=[answers in OUT that do not meet them count as failures]:FILE:_files' \
                        '*--accept-failed[as for eddy batch]' \
                        '*--accept-failed-ids=[as for eddy batch]:FILE:_files' \
                        '*--rpm=[requests and tokens per minute]:N: ' \
                        '*--tpm=[requests and tokens per minute]:N: ' \
                        '*--base-url=[as for eddy batch]:URL:_files' \
                        '*-c+[requests at a time, with --latency]:N: ' \
                        '*--concurrency=[requests at a time, with --latency]:N: ' \
                        '*--latency=[the duration of one request, such as 2.5s]:D: ' \
                        '*--price=[prices of a million tokens, such as 0.15/0.60]:IN: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        retry)
                _arguments -S \
                        '*-o+[the file of answers]:OUT: ' \
                        '*--output=[the file of answers]:OUT: ' \
                        '*--errors=[the errors file]:FILE:_files' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*--format=[auto: csv if IN ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--id-column=[the column of CSV that is the id]:NAME: ' \
                        '*--skip-empty[leave out a line if all its fields that {{name}} refers to are empty, null or blank]' \
                        '*--shard=[send only the lines of shard i, from 0, of n shards of IN]:i:(auto)' \
                        '*--base-url=[prepend URL to each "url" that begins with /]:URL:_files' \
                        '*--url=[the URL of lines that are bare bodies, or rows of CSV]:URL: ' \
                        '*--body=[the body]:JSON:_files' \
                        '*--rows-per-request=[send up to N lines that differ only in the text "input" of their bodies as one request, for embeddings]:N: ' \
                        '*-X+[for lines without a method]:M: ' \
                        '*--method=[for lines without a method]:M: ' \
                        '*-H+[send this header, or those in FILE]:NAME: ' \
                        '*--header=[send this header, or those in FILE]:NAME: ' \
                        '*--api-key-env=[send "Authorization: Bearer KEY", only to the hosts of --base-url and --url]:NAME: ' \
                        '*--api-key-file=[send "Authorization: Bearer KEY", only to the hosts of --base-url and --url]:FILE:_files' \
                        '*--api-key-command=[send the key that this shell command prints]:CMD: ' \
                        '*--api-key-header=[send the key in this header instead]:NAME: ' \
                        '*--idempotency-header=[send this header, with a value that depends only on custom_id and the request, so that servers recognise repetitions]:NAME: ' \
                        '*--ok=[an answer is successful if EXPR holds]:EXPR: ' \
                        '*--schema=[an answer is successful only if this JSON Schema accepts it: the JSON in the content of a chat answer, or else the body]:FILE:_files' \
                        '*--accept-failed[accept failures that are final: all attempts were made, or the status is one that is not retried]' \
                        '*--accept-failed-ids=[accept failures of the ids in FILE: one per line, or lines of an errors file]:FILE:_files' \
                        '*--ordered[write answers in the order of the input]' \
                        '*--save=[save answers that are not JSON, such as audio and images, as files in DIR, named after the ids]:DIR:_files' \
                        '*--no-meta[leave out "x_meta", for strict readers of OpenAI'\''s format]' \
                        '*--on-changed=[if a request has changed since it was answered, stop before sending anything, or send it again]:stop:(stop send)' \
                        '*--log=[append one line of JSON for each attempt]:FILE:_files' \
                        '*--metrics=[serve a page for Prometheus during the run]:HOST: ' \
                        '*--progress=[show progress on stderr]:auto:(auto bar plain json off)' \
                        '*--summary=[the summary on stderr]:text:(text json)' \
                        '*--summary-file=[write that object to FILE when the run ends]:FILE:_files' \
                        '*-c+[requests at a time, 1 to 65536]:N:(auto)' \
                        '*--concurrency=[requests at a time, 1 to 65536]:N:(auto)' \
                        '*--ramp=[increase the number of requests to -c over this time]:D: ' \
                        '*--rpm=[requests or tokens per minute, for each base URL or host]:N: ' \
                        '*--tpm=[requests or tokens per minute, for each base URL or host]:N: ' \
                        '*--burst=[send at once what --rpm and --tpm allow in this time]:D: ' \
                        '*--timeout=[limit for one attempt, from the start of its connect]:D: ' \
                        '*--connect-timeout=[limit for name lookup, connect, proxy, TLS handshake]:D: ' \
                        '*--idle-timeout=[limit for a time in which no byte is sent or received]:D: ' \
                        '*-L[follow up to 10 redirects of a request that keep its method and body: 307 and 308, and for GET 301, 302 and 303 too]' \
                        '*--location[follow up to 10 redirects of a request that keep its method and body: 307 and 308, and for GET 301, 302 and 303 too]' \
                        '*--max-attempts=[attempts for each request, including the first]:N: ' \
                        '*--retry-if=[attempt again also if EXPR holds, written as for --ok]:EXPR: ' \
                        '*--retry-base=[longest random wait before the second attempt, and before any attempt]:D: ' \
                        '*--retry-max=[longest random wait before the second attempt, and before any attempt]:D: ' \
                        '*--max-throttle-wait=[stop using a server that refuses requests for longer]:D: ' \
                        '*--limit=[send at most N requests]:N: ' \
                        '*--max-errors=[end after more than N failed requests]:N: ' \
                        '*--price=[prices of a million tokens, such as 0.15/0.60]:IN: ' \
                        '*--max-cost=[end when the answers have cost this much]:AMOUNT: ' \
                        '*--deadline=[end after this time]:D: ' \
                        '*--cacert=[trust the certificates in FILE]:FILE:_files' \
                        '*--cert=[this program'\''s own certificate and its key]:FILE:_files' \
                        '*--key=[this program'\''s own certificate and its key]:FILE:_files' \
                        '*-k[accept any certificate: anyone can then read and change what is sent]' \
                        '*--insecure[accept any certificate: anyone can then read and change what is sent]' \
                        '*--proxy=[use this proxy, \[http://|socks5://\]\[USER:PASSWORD@\]HOST\[:PORT\], in place of those of the environment]:URL: ' \
                        '*--unix-socket=[connect to this Unix socket for every URL, without a proxy]:PATH:_files' \
                        '*--resolve=[connect to ADDRESS for this host and port]:HOST: ' \
                        '*--http1[do not offer HTTP/2 to https servers]' \
                        '*:file:_files'
                ;;
        sort)
                _arguments -S \
                        '*--by=[the file of requests]:IN: ' \
                        '*--format=[auto: csv if IN ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--id-column=[the column of CSV that is the id]:NAME: ' \
                        '*-o+[write to SORTED, which is replaced when sorting is complete, and compressed if its name ends in .gz or .zst]:SORTED: ' \
                        '*--output=[write to SORTED, which is replaced when sorting is complete, and compressed if its name ends in .gz or .zst]:SORTED: ' \
                        '*--memory=[bytes of memory for lines, such as 256M]:N: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        collect)
                _arguments -S \
                        '*--by=[the file of requests]:IN: ' \
                        '*-o+[write the answers to ALL, which is replaced when it is complete, and compressed if its name ends in .gz or .zst]:ALL: ' \
                        '*--output=[write the answers to ALL, which is replaced when it is complete, and compressed if its name ends in .gz or .zst]:ALL: ' \
                        '*--errors=[write the failures of requests without an answer to FILE, which is replaced, or removed if all have one]:FILE:_files' \
                        '*--shards=[the runs had --shard I/N: report which shards lack answers]:N: ' \
                        '*--accept-failed[those of the runs: the failures that they accept are complete]' \
                        '*--accept-failed-ids=[those of the runs: the failures that they accept are complete]:FILE:_files' \
                        '*--ok=[those of the runs, if they had these options]:EXPR: ' \
                        '*--schema=[those of the runs, if they had these options]:FILE:_files' \
                        '*--format=[auto: csv if IN ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--id-column=[the column of CSV that is the id]:NAME: ' \
                        '*--skip-empty[leave out the requests that a run with this option leaves out]' \
                        '*--body=[those of the run that have {{name}}, for --skip-empty]:BODY: ' \
                        '*--url=[those of the run that have {{name}}, for --skip-empty]:URL: ' \
                        '*-H+[those of the run that have {{name}}, for --skip-empty]:HEADER: ' \
                        '*--header=[those of the run that have {{name}}, for --skip-empty]:HEADER: ' \
                        '*--memory=[bytes of memory for lines, such as 256M]:N: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        select)
                _arguments -S \
                        '*--select=[a column: a JSON Pointer into the body of the answer, such as /usage/total_tokens]:value: ' \
                        '*--by=[the file of requests, for its order and --keep]:IN: ' \
                        '*--keep=[a column of IN: a column of CSV, a member of the lines, or a JSON Pointer into them]:value: ' \
                        '*--errors=[the errors file]:FILE:_files' \
                        '*--ok=[those of the run, if it had these options]:EXPR: ' \
                        '*--schema=[those of the run, if it had these options]:FILE:_files' \
                        '*--format=[auto: csv if IN ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--id-column=[the column of CSV that is the id]:NAME: ' \
                        '*--skip-empty[leave out the requests that a run with this option leaves out]' \
                        '*--body=[those of the run that have {{name}}, for --skip-empty]:BODY: ' \
                        '*--url=[those of the run that have {{name}}, for --skip-empty]:URL: ' \
                        '*-H+[those of the run that have {{name}}, for --skip-empty]:HEADER: ' \
                        '*--header=[those of the run that have {{name}}, for --skip-empty]:HEADER: ' \
                        '*-o+[write to TABLE, which is replaced when it is complete, and compressed if its name ends in .gz or .zst]:TABLE: ' \
                        '*--output=[write to TABLE, which is replaced when it is complete, and compressed if its name ends in .gz or .zst]:TABLE: ' \
                        '*--to=[auto: json if TABLE ends in .jsonl, .ndjson or .json, before .gz or .zst]:auto:(auto csv json)' \
                        '*--memory=[bytes of memory for rows, such as 256M]:N: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        fetch)
                _arguments -S \
                        '*-i+[read more, one per line, from FILE or -]:FILE:_files' \
                        '*-X+[GET, or POST with --data, unless given]:M: ' \
                        '*--method=[GET, or POST with --data, unless given]:M: ' \
                        '*-H+[send this header]:NAME: ' \
                        '*--header=[send this header]:NAME: ' \
                        '*-u+[user and password]:U: ' \
                        '*--user=[user and password]:U: ' \
                        '*--digest[Digest with SHA-256 for -u or --netrc, instead of Basic]' \
                        '*--digest-md5[Digest, also with MD5: for old servers]' \
                        '*--netrc[users and passwords of hosts from ~/.netrc]' \
                        '*--netrc-file=[the same from FILE]:FILE:_files' \
                        '*-d+[the body: D, or the contents of FILE]:D:_files' \
                        '*--data=[the body: D, or the contents of FILE]:D:_files' \
                        '*-L[follow redirects]' \
                        '*--location[follow redirects]' \
                        '*--max-redirs=[redirects of one URL, with -L]:N: ' \
                        '*-n+[request the only URL N times]:N: ' \
                        '*--duration=[request the only URL again and again for D]:D: ' \
                        '*-c+[requests at a time, 1 to 65536]:N: ' \
                        '*--per-host=[requests at a time to one host and port]:N: ' \
                        '*--timeout=[for one attempt, from the start of its connect]:D: ' \
                        '*--connect-timeout=[for name lookup, connect, the proxy'\''s CONNECT or SOCKS, and TLS handshake]:D: ' \
                        '*--read-timeout=[for a time in which no byte is sent or received]:D: ' \
                        '*--deadline=[for the whole run]:D: ' \
                        '*--attempts=[in all, for one URL]:N: ' \
                        '*--backoff=[a random wait of up to D before the second attempt, 2D before the third, and so on up to a minute]:D: ' \
                        '*--cacert=[trust the certificates in FILE]:FILE:_files' \
                        '*--cert=[this program'\''s own certificate and its key]:FILE:_files' \
                        '*--key=[this program'\''s own certificate and its key]:FILE:_files' \
                        '*-k[accept any certificate: anyone can then read and change what is sent]' \
                        '*--insecure[accept any certificate: anyone can then read and change what is sent]' \
                        '*--proxy=[use this proxy, \[http://|socks5://\]\[USER:PASSWORD@\]HOST\[:PORT\], in place of those of the environment]:URL: ' \
                        '*--unix-socket=[connect to this Unix socket for every URL, without a proxy]:PATH:_files' \
                        '*--resolve=[connect to ADDRESS for this host and port]:HOST: ' \
                        '*--http1[do not offer HTTP/2 to https servers]' \
                        '*--compressed[ask for compressed responses]' \
                        '*-o+[write lines to FILE, which must be new or empty, except with --save]:FILE:_files' \
                        '*--force[overwrite FILE, or files in the folder of --save]' \
                        '*--body[add "body" to each line: a string, or {"_base64":...}]' \
                        '*--save=[save each body of a status below 300 as a file in DIR, named after the last part of its URL]:DIR:_files' \
                        '*--remote-name[with --save: give files the names that the servers send in Content-Disposition, if any]' \
                        '*--progress=[on stderr: a bar on a terminal, else a line each 10 s]:auto:(auto bar plain json off)' \
                        '*--summary=[on stderr, at the end]:text:(text json)' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]'
                ;;
        serve)
                _arguments -S \
                        '*--bind=[listen on this address]:ADDRESS: ' \
                        '*--port=[listen on this port]:N: ' \
                        '*--host=[also answer requests for this host, such as the public name of a proxy]:NAME: ' \
                        '*--threads=[serve on N threads]:N: ' \
                        '*--cert=[serve https with this certificate and its key]:FILE:_files' \
                        '*--key=[serve https with this certificate and its key]:FILE:_files' \
                        '*--http1[do not speak HTTP/2]' \
                        '*--listing[list the names in a folder that has no index.html]' \
                        '*--no-links[follow no symbolic links, not even inside DIR]' \
                        '*--precompressed[send a.js.br, a.js.zst or a.js.gz for a.js if the client accepts it]' \
                        '*--cache-control=[cache control]:TEXT: ' \
                        '*--access-log=[append a line for each request to FILE]:FILE:_files' \
                        '*--metrics-port=[serve metrics for Prometheus at http://127.0.0.1:N/metrics]:N: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        mock)
                _arguments -S \
                        '*--listen=[the address, and the port or 0 for a free port]:HOST: ' \
                        '*--threads=[serve on N threads]:N: ' \
                        '*--tls[serve https, with a certificate for localhost, 127.0.0.1 and ::1 that is made for this run]' \
                        '*--cert=[serve https with this certificate and its key]:FILE:_files' \
                        '*--key=[serve https with this certificate and its key]:FILE:_files' \
                        '*--http1[do not speak HTTP/2]' \
                        '*--latency=[wait D before each answer]:D: ' \
                        '*--latency-p99=[wait a random time with the median --latency]:D: ' \
                        '*--token-latency=[wait D before each event of a stream]:D: ' \
                        '*--rate-limit=[answer 429 with Retry-After above N requests per second]:N: ' \
                        '*--rpm=[serve N requests or tokens per minute for each key, with headers x-ratelimit-*, and answer 429 rate_limit_exceeded above]:N: ' \
                        '*--tpm=[serve N requests or tokens per minute for each key, with headers x-ratelimit-*, and answer 429 rate_limit_exceeded above]:N: ' \
                        '*--quota=[for each key, answer 429 insufficient_quota after N requests]:N: ' \
                        '*--wave=[every PERIOD, answer 429 to all requests for LENGTH]:PERIOD: ' \
                        '*--refuse=[refuse the first N requests, and ask them to wait for D]:N: ' \
                        '*--capacity=[serve N requests at a time and refuse others at once]:N: ' \
                        '*--capacity-status=[the status of these refusals, 429 or 503]:S: ' \
                        '*--vendor=[report limits and refuse as the API of this vendor does, in its headers and errors]:NAME: ' \
                        '*--retry-after=[the form of the time in refusals: seconds, ms]:FORM: ' \
                        '*--errors=[answer this fraction of requests with a 500 or 503]:P: ' \
                        '*--error-rate=[answer this fraction of requests with a 500 or 503]:P: ' \
                        '*--truncate=[end the body of this fraction of answers early]:P: ' \
                        '*--stall=[stop within the body of this fraction of answers for D]:P: ' \
                        '*--seed=[repeat the random choices, for requests that arrive in the same order]:N: ' \
                        '*--api-key=[answer 401 to requests without KEY in "Authorization: Bearer" or api-key]:KEY: ' \
                        '*--token-life=[grant tokens at /oauth/token, and answer 401 to requests without a token younger than D]:D: ' \
                        '*--model=[answer 404 for other models]:NAME: ' \
                        '*--dimensions=[the length of an embedding]:N: ' \
                        '*--completion-tokens=[the number of words in an answer without max_tokens]:N: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]'
                ;;
        report)
                _arguments -S \
                        '*--by=[the file of requests, to report those without an answer]:IN: ' \
                        '*--format=[of IN: csv if its name ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--id-column=[the column of CSV that is the id]:NAME: ' \
                        '*--shard=[count only the requests of this shard of IN]:i: ' \
                        '*--skip-empty[leave out the requests that a run with this option leaves out]' \
                        '*--body=[those of the run that have {{name}}, for --skip-empty]:BODY: ' \
                        '*--url=[those of the run that have {{name}}, for --skip-empty]:URL: ' \
                        '*-H+[those of the run that have {{name}}, for --skip-empty]:HEADER: ' \
                        '*--header=[those of the run that have {{name}}, for --skip-empty]:HEADER: ' \
                        '*--errors=[the errors file]:FILE:_files' \
                        '*--log=[the log of eddy batch --log, to show refusals]:FILE:_files' \
                        '*-o+[write the page to PAGE]:PAGE: ' \
                        '*--output=[write the page to PAGE]:PAGE: ' \
                        '*--ok=[those of the run, if it had these options]:EXPR: ' \
                        '*--schema=[those of the run, if it had these options]:FILE:_files' \
                        '*--accept-failed[those of the run]' \
                        '*--accept-failed-ids=[those of the run]:FILE:_files' \
                        '*--check[status 1 unless each request of IN has an answer, or its failure is accepted]' \
                        '*--price=[prices of a million tokens, such as 0.15/0.60]:IN: ' \
                        '*--title=[the heading of the page]:TEXT: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        draw)
                _arguments -S \
                        '*-o+[write to OUT]:OUT: ' \
                        '*--output=[write to OUT]:OUT: ' \
                        '*--format=[a timeline for the terminal, a picture, or a page with tables]:text:(text svg html)' \
                        '*--axis=[the spacing of events: by time, or one step each]:time:(time order)' \
                        '*--width=[columns of text]:N: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        explore)
                _arguments -S \
                        '*--deviations=[try all orders with at most N deviations, 1 to 32]:N: ' \
                        '*--runs=[stop after N of these orders]:N: ' \
                        '*--seeds=[then try N random orders]:N: ' \
                        '*--timeout=[the time for one order, in whole seconds, such as 10s]:T: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]'
                ;;
        help) _describe command commands ;;
        esac
}

_eddy "$@"
