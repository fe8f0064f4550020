# shellcheck shell=bash
# swarm.sh -- for tests of assay swarm: a Redis server of the test's own, in the working directory.
set -u
status=0

complain()
{
	echo "$*"
	status=1
}

# expect WHAT VALUE WANTED
expect()
{
	[ "$2" = "$3" ] || complain "$1: $2 (expected $3)"
}

# figure FILE NAME: a figure of a JSON object.
figure()
{
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2]))' "$1" "$2"
}

command -v redis-server >/dev/null || {
	echo "no redis-server"
	exit 77
}

server=0
# server_start [OPTION...]: on a socket only, unless the options say more.
server_start()
{
	redis-server --port 0 --unixsocket "$PWD/socket" --dir "$PWD" --save "" --appendonly yes \
		--appendfsync everysec --daemonize no "$@" >>server.log 2>&1 &
	server=$!
	for _ in $(seq 200); do
		redis-cli -s "$PWD/socket" dbsize >/dev/null 2>&1 && return
		sleep 0.05
	done
	echo "redis-server does not start:"
	tail -3 server.log
	exit 1
}
server_kill()
{
	kill -9 "$server"
	wait "$server" 2>/dev/null
}
# Ends with the test.
trap '[ "$server" = 0 ] || kill -9 "$server" 2>/dev/null' EXIT
url=unix://$PWD/socket

# A universe that can be exhausted, of some thousand states.
command_line=(explore reffs --profile tiny --strategy tour --set universe.nodes_max=3 --seconds 200)

# alone: the search by one process, for comparison; its figures in alone.json.
alone()
{
	"$ASSAY" "${command_line[@]}" --jobs 1 --json --out alone >alone.json ||
		complain "alone: exit status $?"
}

# same FILE: has this search come to the same?
same()
{
	local name
	for name in states states_sum transitions exhausted; do
		expect "$1: $name" "$(figure "$1" $name)" "$(figure alone.json $name)"
	done
}
