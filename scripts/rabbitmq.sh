#!/usr/bin/env bash
# A RabbitMQ for tests: the one that answers already, else a private one that this script starts.
#   scripts/rabbitmq.sh start   starts it where none answers (installs it the first time) and prints its URL
#   scripts/rabbitmq.sh private starts a private one in any case and prints its URL
#   scripts/rabbitmq.sh restart restarts the private one, keeping its messages
#   scripts/rabbitmq.sh kill    kills the private one (SIGKILL), keeping its messages
#   scripts/rabbitmq.sh ctl …   rabbitmqctl of the private one
#   scripts/rabbitmq.sh management  prints the URL of the private one's management API
#   scripts/rabbitmq.sh tls     prints the amqps URL of the private one, where ANAMNESIS_RABBITMQ_TLS named a folder with
#                               ca.pem, server.pem and server.key (scripts/certificates.sh) when it was started
#   scripts/rabbitmq.sh management-tls  the same of its management API
#   scripts/rabbitmq.sh metrics prints the URL of the private one's metrics, where ANAMNESIS_RABBITMQ_PLUGINS named
#                               rabbitmq_prometheus when it was started
#   scripts/rabbitmq.sh url     prints the URL of the one that answers
#   scripts/rabbitmq.sh stop    stops the private one and removes its data
. "$(dirname "$0")/lib.sh"

known=${ANAMNESIS_TEST_AMQP_URL:-amqp://guest:guest@127.0.0.1:5672/%2f}
home=${ANAMNESIS_RABBITMQ_DIR:-${TMPDIR:-/tmp}/anamnesis-rabbitmq-$(printf '%s' "$ROOT" | sha256sum | cut -c1-8)}

# speaks HOST PORT: whether somebody there answers the AMQP greeting.
speaks() {
    python3 - "$1" "$2" <<'PYTHON' 2>/dev/null
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=2) as s:
    s.settimeout(3)
    s.sendall(b"AMQP\0\0\x09\x01")
    sys.exit(0 if s.recv(1) == b"\x01" else 1)
PYTHON
}

# The host and port of a URL.
place() { python3 -c 'import sys, urllib.parse as u; p = u.urlsplit(sys.argv[1]); print(p.hostname, p.port or 5672)' "$1"; }

answers() {
    # shellcheck disable=SC2046 # host and port are two words
    speaks $(place "$1")
}

private_url() { [ -f "$home/port" ] && printf 'amqp://guest:guest@127.0.0.1:%s/%%2f\n' "$(cat "$home/port")"; }

url() {
    local mine
    if mine=$(private_url) && answers "$mine"; then
        printf '%s\n' "$mine"
    elif answers "$known"; then
        printf '%s\n' "$known"
    else
        return 1
    fi
}

free_ports() {
    python3 -c 'import socket
s = [socket.socket() for _ in range(7)]
[x.bind(("127.0.0.1", 0)) for x in s]
print(*[x.getsockname()[1] for x in s])'
}

# The package would start a service of its own; only its files are wanted.
install_server() {
    have rabbitmq-server && return
    if have apt-get && [ "$(id -u)" = 0 ]; then
        say "installing rabbitmq-server"
        local block=/usr/sbin/policy-rc.d made=
        [ -e "$block" ] || { printf '#!/bin/sh\nexit 101\n' >"$block" && chmod +x "$block" && made=1; }
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq rabbitmq-server >/dev/null
        [ -z "$made" ] || rm -f "$block"
    fi
    have rabbitmq-server || die "RabbitMQ is needed: install your system's rabbitmq-server, or set ANAMNESIS_TEST_AMQP_URL"
}

# The package's wrappers insist on its own user; the programs behind them do not.
program() {
    local found
    for found in /usr/lib/rabbitmq/bin/"$1" /usr/local/sbin/"$1" "$(command -v "$1" || true)"; do
        [ -x "$found" ] && { printf '%s\n' "$found"; return; }
    done
    die "$1 is not there"
}

# in_home COMMAND …: runs a program of RabbitMQ as the private node sees the world. Quorum queues write their counts
# down each tick, which is 5 s where nobody says otherwise: whoever asks for a count here should not wait so long.
in_home() {
    local epmd node dist management metrics
    read -r node dist epmd management _ _ metrics <"$home/ports"
    env HOME="$home" ERL_EPMD_PORT="$epmd" ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_NODENAME="anamnesis$node@localhost" \
        RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT="$node" RABBITMQ_DIST_PORT="$dist" \
        RABBITMQ_MNESIA_BASE="$home/data" RABBITMQ_LOG_BASE="$home/log" RABBITMQ_CONFIG_FILE="$home/rabbitmq" \
        RABBITMQ_CONF_ENV_FILE="$home/none" RABBITMQ_ENABLED_PLUGINS_FILE="$home/plugins" \
        RABBITMQ_PID_FILE="$home/pid" RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1} \
-rabbit quorum_tick_interval 500 \
-rabbitmq_management tcp_config [{ip,\"127.0.0.1\"},{port,$management}] \
-rabbitmq_prometheus tcp_config [{ip,\"127.0.0.1\"},{port,${metrics:-15692}}]" \
        "$@"
}

# configure_tls FOLDER: a TLS listener for AMQP, and one for the management API where that plugin is on. With
# ANAMNESIS_RABBITMQ_TLS_CLIENTS=required a client must show a certificate of the same authority.
configure_tls() {
    local tls management required=false
    read -r _ _ _ _ tls management _ <"$home/ports"
    [ "${ANAMNESIS_RABBITMQ_TLS_CLIENTS:-}" != required ] || required=true
    printf 'listeners.ssl.1 = 127.0.0.1:%s\n' "$tls"
    printf 'ssl_options.%s\n' "cacertfile = $1/ca.pem" "certfile = $1/server.pem" "keyfile = $1/server.key" \
        "verify = verify_peer" "fail_if_no_peer_cert = $required"
    case ${ANAMNESIS_RABBITMQ_PLUGINS:-} in *rabbitmq_management*)
        printf 'management.ssl.%s\n' "ip = 127.0.0.1" "port = $management" "cacertfile = $1/ca.pem" \
            "certfile = $1/server.pem" "keyfile = $1/server.key"
        ;;
    esac
}

boot() {
    mkdir -p "$home/data" "$home/log"
    printf '[%s].\n' "${ANAMNESIS_RABBITMQ_PLUGINS:-}" >"$home/plugins"
    [ -f "$home/ports" ] || free_ports >"$home/ports"
    cut -d' ' -f1 "$home/ports" >"$home/port"
    [ -z "${ANAMNESIS_RABBITMQ_TLS:-}" ] || configure_tls "$ANAMNESIS_RABBITMQ_TLS" >"$home/rabbitmq.conf"
    in_home setsid "$(program rabbitmq-server)" >"$home/out" 2>&1 </dev/null 9>&- &
    local waited=0
    until answers "$(private_url)"; do
        waited=$((waited + 1))
        [ "$waited" -lt 240 ] || { tail -n 20 "$home/out" >&2; die "RabbitMQ does not start"; }
        sleep 0.25
    done
}

private() {
    system_package python3 python3
    local mine
    if mine=$(private_url) && answers "$mine"; then
        printf '%s\n' "$mine"
        return
    fi
    install_server
    boot
    private_url
}

start() {
    system_package python3 python3
    url && return
    private
}

node_pid() {
    [ -f "$home/pid" ] || return 1
    local pid
    pid=$(cat "$home/pid")
    [ -d "/proc/$pid" ] && printf '%s\n' "$pid"
}

kill_node() {
    local pid
    pid=$(node_pid) || return 0
    kill -KILL "$pid" 2>/dev/null || true
    while [ -d "/proc/$pid" ]; do sleep 0.05; done
}

# The name service of the private node: nobody else uses its port.
kill_epmd() {
    [ -f "$home/ports" ] || return 0
    local epmd
    read -r _ _ epmd _ <"$home/ports"
    for proc in /proc/[0-9]*; do
        if [ "$(cat "$proc/comm" 2>/dev/null)" = epmd ] &&
            tr '\0' '\n' 2>/dev/null <"$proc/environ" | grep -qx "ERL_EPMD_PORT=$epmd"; then
            kill "${proc#/proc/}" 2>/dev/null || true
        fi
    done
}

stop() {
    [ -d "$home" ] || return 0
    kill_node
    kill_epmd
    rm -rf "$home"
}

# One at a time: tests that run beside each other all ask for it.
locked() {
    exec 9>"$CACHE/rabbitmq.lock"
    flock 9
    "$@"
}

case "${1:-}" in
    start) locked start ;;
    private) locked private ;;
    management) printf 'http://guest:guest@127.0.0.1:%s\n' "$(cut -d' ' -f4 "$home/ports")" ;;
    tls) printf 'amqps://guest:guest@localhost:%s/%%2f\n' "$(cut -d' ' -f5 "$home/ports")" ;;
    management-tls) printf 'https://guest:guest@localhost:%s\n' "$(cut -d' ' -f6 "$home/ports")" ;;
    metrics) printf 'http://127.0.0.1:%s\n' "$(cut -d' ' -f7 "$home/ports")" ;;
    url) url || die "none answers: scripts/rabbitmq.sh start" ;;
    kill) kill_node ;;
    restart)
        kill_node
        boot
        private_url
        ;;
    ctl)
        shift
        in_home "$(program rabbitmqctl)" "$@"
        ;;
    stop) stop ;;
    *) die "usage: scripts/rabbitmq.sh start|private|restart|kill|ctl|management|tls|management-tls|metrics|url|stop" ;;
esac
