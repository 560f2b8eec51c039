# eddy.bash - for bash: commands and options of eddy. Made by tools/completion.

_eddy() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
        local command=${COMP_WORDS[1]} words=

        # "--option=value" is three words.
        if [ "$word" = = ]; then
                word=
        elif [ "$before" = = ]; then
                before=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
                words="batch check retry sort collect select fetch serve mock report draw explore help --help --version"
        else
                case $command,$before in
                batch,--format) words="auto json csv" ;;
                batch,--shard) words="auto" ;;
                batch,--on-changed) words="stop send" ;;
                batch,--progress) words="auto bar plain json off" ;;
                batch,--summary) words="text json" ;;
                batch,-c|batch,--concurrency) words="auto" ;;
                batch,--base-url | batch,--body | batch,--api-key-file | batch,-o | \
                        batch,--output | batch,--errors | batch,--schema | batch,--accept-failed-ids | \
                        batch,--save | batch,--log | batch,--summary-file | batch,--cacert | \
                        batch,--cert | batch,--key | batch,--unix-socket)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                batch,--id-column | batch,--url | batch,--rows-per-request | batch,-X | \
                        batch,--method | batch,-H | batch,--header | batch,--api-key-env | \
                        batch,--api-key-command | batch,--api-key-header | batch,--idempotency-header | batch,--ok | \
                        batch,--metrics | batch,--ramp | batch,--rpm | batch,--tpm | \
                        batch,--burst | batch,--timeout | batch,--connect-timeout | batch,--idle-timeout | \
                        batch,--max-attempts | batch,--retry-if | batch,--retry-base | batch,--retry-max | \
                        batch,--max-throttle-wait | batch,--limit | batch,--max-errors | batch,--price | \
                        batch,--max-cost | batch,--deadline | batch,--proxy | batch,--resolve) return ;;
                check,--format) words="auto json csv" ;;
                check,--shard) words="auto" ;;
                check,--errors | check,--body | check,--schema | check,--accept-failed-ids | \
                        check,--base-url)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                check,-o | check,--output | check,--id-column | check,--url | \
                        check,--rows-per-request | check,-H | check,--header | check,-X | \
                        check,--method | check,--ok | check,--rpm | check,--tpm | \
                        check,-c | check,--concurrency | check,--latency | check,--price) return ;;
                retry,--format) words="auto json csv" ;;
                retry,--shard) words="auto" ;;
                retry,--on-changed) words="stop send" ;;
                retry,--progress) words="auto bar plain json off" ;;
                retry,--summary) words="text json" ;;
                retry,-c|retry,--concurrency) words="auto" ;;
                retry,--errors | retry,--base-url | retry,--body | retry,--api-key-file | \
                        retry,--schema | retry,--accept-failed-ids | retry,--save | retry,--log | \
                        retry,--summary-file | retry,--cacert | retry,--cert | retry,--key | \
                        retry,--unix-socket)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                retry,-o | retry,--output | retry,--id-column | retry,--url | \
                        retry,--rows-per-request | retry,-X | retry,--method | retry,-H | \
                        retry,--header | retry,--api-key-env | retry,--api-key-command | retry,--api-key-header | \
                        retry,--idempotency-header | retry,--ok | retry,--metrics | retry,--ramp | \
                        retry,--rpm | retry,--tpm | retry,--burst | retry,--timeout | \
                        retry,--connect-timeout | retry,--idle-timeout | retry,--max-attempts | retry,--retry-if | \
                        retry,--retry-base | retry,--retry-max | retry,--max-throttle-wait | retry,--limit | \
                        retry,--max-errors | retry,--price | retry,--max-cost | retry,--deadline | \
                        retry,--proxy | retry,--resolve) return ;;
                sort,--format) words="auto json csv" ;;
                sort,--by | sort,--id-column | sort,-o | sort,--output | \
                        sort,--memory) return ;;
                collect,--format) words="auto json csv" ;;
                collect,--errors | collect,--accept-failed-ids | collect,--schema)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                collect,--by | collect,-o | collect,--output | collect,--shards | \
                        collect,--ok | collect,--id-column | collect,--body | collect,--url | \
                        collect,-H | collect,--header | collect,--memory) return ;;
                select,--format) words="auto json csv" ;;
                select,--to) words="auto csv json" ;;
                select,--errors | select,--schema)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                select,--select | select,--by | select,--keep | select,--ok | \
                        select,--id-column | select,--body | select,--url | select,-H | \
                        select,--header | select,-o | select,--output | select,--memory) return ;;
                fetch,--progress) words="auto bar plain json off" ;;
                fetch,--summary) words="text json" ;;
                fetch,-i | fetch,--netrc-file | fetch,-d | fetch,--data | \
                        fetch,--cacert | fetch,--cert | fetch,--key | fetch,--unix-socket | \
                        fetch,-o | fetch,--save)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                fetch,-X | fetch,--method | fetch,-H | fetch,--header | \
                        fetch,-u | fetch,--user | fetch,--max-redirs | fetch,-n | \
                        fetch,--duration | fetch,-c | fetch,--per-host | fetch,--timeout | \
                        fetch,--connect-timeout | fetch,--read-timeout | fetch,--deadline | fetch,--attempts | \
                        fetch,--backoff | fetch,--proxy | fetch,--resolve) return ;;
                serve,--cert | serve,--key | serve,--access-log)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                serve,--bind | serve,--port | serve,--host | serve,--threads | \
                        serve,--cache-control | serve,--metrics-port) return ;;
                mock,--cert | mock,--key)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                mock,--listen | mock,--threads | mock,--latency | mock,--latency-p99 | \
                        mock,--token-latency | mock,--rate-limit | mock,--rpm | mock,--tpm | \
                        mock,--quota | mock,--wave | mock,--refuse | mock,--capacity | \
                        mock,--capacity-status | mock,--vendor | mock,--retry-after | mock,--errors | \
                        mock,--error-rate | mock,--truncate | mock,--stall | mock,--seed | \
                        mock,--api-key | mock,--token-life | mock,--model | mock,--dimensions | \
                        mock,--completion-tokens) return ;;
                report,--format) words="auto json csv" ;;
                report,--errors | report,--log | report,--schema | report,--accept-failed-ids)
                        compopt -o default 2>/dev/null
                        return
                        ;;
                report,--by | report,--id-column | report,--shard | report,--body | \
                        report,--url | report,-H | report,--header | report,-o | \
                        report,--output | report,--ok | report,--price | report,--title) return ;;
                draw,--format) words="text svg html" ;;
                draw,--axis) words="time order" ;;
                draw,-o | draw,--output | draw,--width) return ;;
                explore,--deviations | explore,--runs | explore,--seeds | explore,--timeout) return ;;
                help,*) words="batch check retry sort collect select fetch serve mock report draw explore help" ;;
                *)
                        case $command in
                        batch) words="--format --id-column --skip-empty --shard --base-url --url
                                --body --rows-per-request -X --method -H --header --api-key-env
                                --api-key-file --api-key-command --api-key-header
                                --idempotency-header -o --output --errors --ok --schema
                                --accept-failed --accept-failed-ids --ordered --save --no-meta
                                --on-changed --log --metrics --progress --summary --summary-file
                                -c --concurrency --ramp --rpm --tpm --burst --timeout
                                --connect-timeout --idle-timeout -L --location --max-attempts
                                --retry-if --retry-base --retry-max --max-throttle-wait --limit
                                --max-errors --price --max-cost --deadline --cacert --cert --key
                                -k --insecure --proxy --unix-socket --resolve --http1 -h --help
                                --version" ;;
                        check) words="-o --output --errors --format --id-column --skip-empty
                                --shard --url --body --rows-per-request -H --header -X --method
                                --ok --schema --accept-failed --accept-failed-ids --rpm --tpm
                                --base-url -c --concurrency --latency --price -h --help
                                --version" ;;
                        retry) words="-o --output --errors -h --help --version --format
                                --id-column --skip-empty --shard --base-url --url --body
                                --rows-per-request -X --method -H --header --api-key-env
                                --api-key-file --api-key-command --api-key-header
                                --idempotency-header --ok --schema --accept-failed
                                --accept-failed-ids --ordered --save --no-meta --on-changed
                                --log --metrics --progress --summary --summary-file -c
                                --concurrency --ramp --rpm --tpm --burst --timeout
                                --connect-timeout --idle-timeout -L --location --max-attempts
                                --retry-if --retry-base --retry-max --max-throttle-wait --limit
                                --max-errors --price --max-cost --deadline --cacert --cert --key
                                -k --insecure --proxy --unix-socket --resolve --http1" ;;
                        sort) words="--by --format --id-column -o --output --memory -h --help
                                --version" ;;
                        collect) words="--by -o --output --errors --shards --accept-failed
                                --accept-failed-ids --ok --schema --format --id-column
                                --skip-empty --body --url -H --header --memory -h --help
                                --version" ;;
                        select) words="--select --by --keep --errors --ok --schema --format
                                --id-column --skip-empty --body --url -H --header -o --output
                                --to --memory -h --help --version" ;;
                        fetch) words="-i -X --method -H --header -u --user --digest --digest-md5
                                --netrc --netrc-file -d --data -L --location --max-redirs -n
                                --duration -c --per-host --timeout --connect-timeout
                                --read-timeout --deadline --attempts --backoff --cacert --cert
                                --key -k --insecure --proxy --unix-socket --resolve --http1
                                --compressed -o --force --body --save --remote-name --progress
                                --summary -h --help --version" ;;
                        serve) words="--bind --port --host --threads --cert --key --http1
                                --listing --no-links --precompressed --cache-control
                                --access-log --metrics-port -h --help --version" ;;
                        mock) words="--listen --threads --tls --cert --key --http1 --latency
                                --latency-p99 --token-latency --rate-limit --rpm --tpm --quota
                                --wave --refuse --capacity --capacity-status --vendor
                                --retry-after --errors --error-rate --truncate --stall --seed
                                --api-key --token-life --model --dimensions --completion-tokens
                                -h --help --version" ;;
                        report) words="--by --format --id-column --shard --skip-empty --body
                                --url -H --header --errors --log -o --output --ok --schema
                                --accept-failed --accept-failed-ids --check --price --title -h
                                --help --version" ;;
                        draw) words="-o --output --format --axis --width -h --help --version" ;;
                        explore) words="--deviations --runs --seeds --timeout -h --help
                                --version" ;;
                        esac
                        case $command,$word in
                        *,-*) ;;
                        batch,* | check,* | retry,* | sort,* | collect,* | select,* | serve,* | report,* | draw,*)
                                compopt -o default 2>/dev/null
                                return
                                ;;
                        *) [ "$word" ] && words= ;;
                        esac
                        ;;
                esac
        fi
        COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _eddy eddy
