#compdef eddy
# eddy.zsh - for zsh: commands and options of eddy. Made by tools/completion.

_eddy() {
        local curcontext=$curcontext
        local -a commands=(
                'batch:send a file of API requests, and write a file of answers'
                'check:examine a file of API requests, and send nothing'
                'retry:send those requests of batch again that failed'
                'sort:put answers into the order of their requests'
                'fetch:fetch many URLs at a time, one line of JSON for each'
                'mock:a web server that answers slowly, limits and fails on demand'
                'report:a page with plots about an output of batch'
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
                        '*--base-url=[in front of each "url" that begins with /]:URL: ' \
                        '*--url=[for lines that are bare bodies, or rows of CSV]:URL: ' \
                        '*--body=[the body]:JSON:_files' \
                        '*-X+[for lines without a method]:M: ' \
                        '*--method=[for lines without a method]:M: ' \
                        '*-H+[send this header, or those in FILE]:NAME: ' \
                        '*--header=[send this header, or those in FILE]:NAME: ' \
                        '*--api-key-env=[send "Authorization: Bearer KEY" to the hosts of --base-url and --url, and to no other]:NAME: ' \
                        '*--api-key-file=[send "Authorization: Bearer KEY" to the hosts of --base-url and --url, and to no other]:FILE:_files' \
                        '*--api-key-header=[send the key in this header instead]:NAME: ' \
                        '*--idempotency-header=[send this header, with a value that depends on custom_id and body only, so that a server can refuse a repetition]:NAME: ' \
                        '*-o+[answers with a status below 400]:FILE:_files' \
                        '*--errors=[all others]:FILE:_files' \
                        '*--ordered[in the order of the input]' \
                        '*--no-meta[without "x_meta"]' \
                        '*--on-changed=[if the body of an answered id differs from the one that was sent: stop before sending anything, or send it again]:stop:(stop send)' \
                        '*--log=[one line of JSON for each attempt]:FILE:_files' \
                        '*--metrics=[a page for Prometheus during the run]:HOST: ' \
                        '*--progress=[on stderr]:auto:(auto bar plain json off)' \
                        '*--summary=[on stderr, at the end]:text:(text json)' \
                        '*-c+[requests at a time, 1 to 65536]:N:(auto)' \
                        '*--ramp=[time over which -c is reached at the start]:D: ' \
                        '*--rpm=[requests and tokens a minute, for each base URL or host]:N: ' \
                        '*--tpm=[requests and tokens a minute, for each base URL or host]:N: ' \
                        '*--burst=[the part of a minute'\''s limit that is sent at once]:D: ' \
                        '*--timeout=[for one attempt, from the start of its connect]:D: ' \
                        '*--connect-timeout=[connect timeout]:D: ' \
                        '*--idle-timeout=[for a time in which no byte is sent or received]:D: ' \
                        '*--max-attempts=[in all, for one request]:N: ' \
                        '*--retry-base=[bounds of the random wait after the first failure, and of every wait]:D: ' \
                        '*--retry-max=[bounds of the random wait after the first failure, and of every wait]:D: ' \
                        '*--max-throttle-wait=[end the run if a server asks for a longer pause]:D: ' \
                        '*--limit=[send at most N requests]:N: ' \
                        '*--max-errors=[end after more than N failed requests]:N: ' \
                        '*--price=[cost of a million tokens, such as 0.15/0.60]:IN: ' \
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
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        check)
                _arguments -S \
                        '*-o+[the file of answers, which may be absent: requests that have their answer there are not counted]:OUT: ' \
                        '*--format=[auto: csv if IN ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--url=[for lines that are bare bodies, or rows of CSV]:URL: ' \
                        '*--body=[the body]:JSON:_files' \
                        '*-X+[for lines without a method]:M: ' \
                        '*--method=[for lines without a method]:M: ' \
                        '*--rpm=[requests and tokens a minute]:N: ' \
                        '*--tpm=[requests and tokens a minute]:N: ' \
                        '*--base-url=[not used, but counted if repeated: --rpm and --tpm are limits for each]:URL: ' \
                        '*-c+[requests at a time, with --latency]:N: ' \
                        '*--latency=[the time of one request, such as 2.5s]:D: ' \
                        '*--price=[cost of a million tokens, such as 0.15/0.60]:IN: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        retry)
                _arguments -S \
                        '*-o+[the file of answers]:OUT: ' \
                        '*--errors=[the file of errors]:FILE:_files' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*--format=[auto: csv if IN ends in .csv, .csv.gz or .csv.zst]:auto:(auto json csv)' \
                        '*--base-url=[in front of each "url" that begins with /]:URL: ' \
                        '*--url=[for lines that are bare bodies, or rows of CSV]:URL: ' \
                        '*--body=[the body]:JSON:_files' \
                        '*-X+[for lines without a method]:M: ' \
                        '*--method=[for lines without a method]:M: ' \
                        '*-H+[send this header, or those in FILE]:NAME: ' \
                        '*--header=[send this header, or those in FILE]:NAME: ' \
                        '*--api-key-env=[send "Authorization: Bearer KEY" to the hosts of --base-url and --url, and to no other]:NAME: ' \
                        '*--api-key-file=[send "Authorization: Bearer KEY" to the hosts of --base-url and --url, and to no other]:FILE:_files' \
                        '*--api-key-header=[send the key in this header instead]:NAME: ' \
                        '*--idempotency-header=[send this header, with a value that depends on custom_id and body only, so that a server can refuse a repetition]:NAME: ' \
                        '*--ordered[in the order of the input]' \
                        '*--no-meta[without "x_meta"]' \
                        '*--on-changed=[if the body of an answered id differs from the one that was sent: stop before sending anything, or send it again]:stop:(stop send)' \
                        '*--log=[one line of JSON for each attempt]:FILE:_files' \
                        '*--metrics=[a page for Prometheus during the run]:HOST: ' \
                        '*--progress=[on stderr]:auto:(auto bar plain json off)' \
                        '*--summary=[on stderr, at the end]:text:(text json)' \
                        '*-c+[requests at a time, 1 to 65536]:N:(auto)' \
                        '*--ramp=[time over which -c is reached at the start]:D: ' \
                        '*--rpm=[requests and tokens a minute, for each base URL or host]:N: ' \
                        '*--tpm=[requests and tokens a minute, for each base URL or host]:N: ' \
                        '*--burst=[the part of a minute'\''s limit that is sent at once]:D: ' \
                        '*--timeout=[for one attempt, from the start of its connect]:D: ' \
                        '*--connect-timeout=[connect timeout]:D: ' \
                        '*--idle-timeout=[for a time in which no byte is sent or received]:D: ' \
                        '*--max-attempts=[in all, for one request]:N: ' \
                        '*--retry-base=[bounds of the random wait after the first failure, and of every wait]:D: ' \
                        '*--retry-max=[bounds of the random wait after the first failure, and of every wait]:D: ' \
                        '*--max-throttle-wait=[end the run if a server asks for a longer pause]:D: ' \
                        '*--limit=[send at most N requests]:N: ' \
                        '*--max-errors=[end after more than N failed requests]:N: ' \
                        '*--price=[cost of a million tokens, such as 0.15/0.60]:IN: ' \
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
                        '*:file:_files'
                ;;
        sort)
                _arguments -S \
                        '*--by=[the file of requests]:IN: ' \
                        '*--format=[of IN]:auto:(auto json csv)' \
                        '*-o+[the sorted file, which is replaced when all is sorted]:SORTED: ' \
                        '*--memory=[bytes for lines, such as 256M]:N: ' \
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
                        '*-d+[the body: D, or the contents of FILE]:D:_files' \
                        '*--data=[the body: D, or the contents of FILE]:D:_files' \
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
                        '*--compressed[ask for compressed responses]' \
                        '*-o+[write lines to FILE, which must be new or empty]:FILE:_files' \
                        '*--force[overwrite FILE, or files in the folder of --save]' \
                        '*--body[add "body" to each line: a string, or {"_base64":...}]' \
                        '*--save=[write each body to DIR/INDEX]:DIR:_files' \
                        '*--progress=[on stderr: a bar on a terminal, else a line each 10 s]:auto:(auto bar plain json off)' \
                        '*--summary=[on stderr, at the end]:text:(text json)' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]'
                ;;
        mock)
                _arguments -S \
                        '*--listen=[an address, and a port or 0 for a free one]:HOST: ' \
                        '*--tls[serve https, with a certificate for localhost, 127.0.0.1 and ::1 that is made for this run, in a file that the second line of standard output names: give it to clients by --cacert]' \
                        '*--cert=[serve https with this certificate and its key]:FILE:_files' \
                        '*--key=[serve https with this certificate and its key]:FILE:_files' \
                        '*--latency=[wait that long before each answer]:D: ' \
                        '*--latency-p99=[half of the answers take less than --latency, half more, and one in a hundred more than this]:D: ' \
                        '*--token-latency=[wait before each event of a stream]:D: ' \
                        '*--rate-limit=[answer 429 with Retry-After above N requests per second]:N: ' \
                        '*--rpm=[for each key, N requests or tokens per minute, with x-ratelimit-* headers, and 429 rate_limit_exceeded above]:N: ' \
                        '*--tpm=[for each key, N requests or tokens per minute, with x-ratelimit-* headers, and 429 rate_limit_exceeded above]:N: ' \
                        '*--quota=[for each key, 429 insufficient_quota after N requests]:N: ' \
                        '*--wave=[every PERIOD, answer 429 to all requests for LENGTH]:PERIOD: ' \
                        '*--capacity=[serve N requests at a time and refuse others at once]:N: ' \
                        '*--capacity-status=[refuse those with 429 or 503]:S: ' \
                        '*--retry-after=[how refusals give the time: seconds, ms]:FORM: ' \
                        '*--errors=[answer that part of the requests by a 500 or 503]:P: ' \
                        '*--error-rate=[answer that part of the requests by a 500 or 503]:P: ' \
                        '*--truncate=[end the body of that part early]:P: ' \
                        '*--stall=[halt within the body of that part, for D]:P: ' \
                        '*--seed=[repeat the random choices for requests that arrive in the same order]:N: ' \
                        '*--api-key=[answer 401 to other keys in "Authorization: Bearer" or api-key]:KEY: ' \
                        '*--model=[answer 404 to other models]:NAME: ' \
                        '*--dimensions=[numbers of an embedding]:N: ' \
                        '*--completion-tokens=[words of an answer without max_tokens]:N: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]'
                ;;
        report)
                _arguments -S \
                        '*--errors=[its file of errors]:FILE:_files' \
                        '*--log=[the file of --log of eddy batch, for refusals]:FILE:_files' \
                        '*-o+[the page]:PAGE: ' \
                        '*--output=[the page]:PAGE: ' \
                        '*--price=[cost of a million tokens, such as 0.15/0.60]:IN: ' \
                        '*--title=[the heading]:TEXT: ' \
                        '*-h[print the usage]' \
                        '*--help[print the usage]' \
                        '*--version[print the version]' \
                        '*:file:_files'
                ;;
        help) _describe command commands ;;
        esac
}

_eddy "$@"
