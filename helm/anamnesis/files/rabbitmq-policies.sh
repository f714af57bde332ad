# Sets each policy of /etc/anamnesis-policies by RabbitMQ's management API. Its address, with user and password, comes
# from a file and goes to curl by standard input: no process list shows it. PUT replaces, so that running twice is
# harmless.
set -eu
policies=${POLICIES:-/etc/anamnesis-policies}
address=${MANAGEMENT_URL_FILE:-/etc/anamnesis-management/url}
# Quotes and backslashes would end curl's own quoting; a slash at the end would double the next one.
base=$(sed -e 's/[[:space:]]*$//' -e 's:/*$::' -e 's/["\\]/\\&/g' "$address")
# The virtual host is one segment of the path: "/" is "%2F".
vhost=$(printf '%s' "${VHOST:-/}" | sed -e 's/%/%25/g' -e 's:/:%2F:g')
set --
if [ -n "${CA_FILE:-}" ]; then
    set -- --cacert "$CA_FILE"
fi
for file in "$policies"/*.json; do
    name=$(basename "$file" .json)
    printf 'url = "%s/api/policies/%s/%s"\n' "$base" "$vhost" "$name" |
        curl --config - --silent --show-error --fail --retry 5 --retry-connrefused --max-time 20 \
            --request PUT --header 'content-type: application/json' --data-binary "@$file" "$@"
    echo "the policy $name is set"
done
