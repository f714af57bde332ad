# A pod that runs one command of the program, with the image, settings, volumes and secrets of a worker's Deployment. Use it
# when no worker runs, or when the command writes or reads files: a volume claim is mounted at /evidence.
#
#   kubectl get deployment -n $NS $WORKER -o json |
#       jq -f deploy/kubernetes/command-pod.jq --args -- backup /evidence/2026-07-01 |
#       kubectl create -n $NS -f -
#
# Options, before --args:
#   --arg claim NAME      the volume claim; without it anamnesis-evidence (deploy/kubernetes/evidence-claim.yaml)
#   --arg folder PATH     where it is mounted; without it /evidence
#   --arg image IMAGE     another image, such as that of the version before
#   --arg migrate SECRET  a secret whose key `url` is the migrator's address, for `restore` and `migrate` on PostgreSQL
#
# With the embedded store the pod prefers the node of a running worker, because the volumes can be on one node only.
.metadata.labels["app.kubernetes.io/instance"] as $release
| .metadata.labels["app.kubernetes.io/name"] as $chart
| ($ARGS.named.claim // "anamnesis-evidence") as $claim
| ($ARGS.named.folder // "/evidence") as $folder
| $ARGS.named.migrate as $migrate
| {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: "anamnesis-command-",
      # Not the component `worker`: neither the Service nor the disruption budget counts this pod. The network policies of the
      # release apply to it.
      labels: {
        "app.kubernetes.io/name": $chart,
        "app.kubernetes.io/instance": $release,
        "app.kubernetes.io/component": "command"
      }
    },
    spec: (
      .spec.template.spec
      | del(.initContainers, .topologySpreadConstraints, .terminationGracePeriodSeconds)
      | .restartPolicy = "Never"
      | .affinity = {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                podAffinityTerm: {
                  topologyKey: "kubernetes.io/hostname",
                  labelSelector: {
                    matchLabels: {
                      "app.kubernetes.io/name": $chart,
                      "app.kubernetes.io/instance": $release,
                      "app.kubernetes.io/component": "worker"
                    }
                  }
                }
              }
            ]
          }
        }
      | .containers |= map(
          select(.name == "worker")
          | del(.ports, .startupProbe, .livenessProbe, .readinessProbe)
          | .name = "command"
          | .args = $ARGS.positional
          | .image = ($ARGS.named.image // .image)
          | .volumeMounts += [{ name: "evidence", mountPath: $folder }]
          | if $migrate then
              .env += [{ name: "ANAMNESIS__STORE__MIGRATE_URL_FILE", value: "/etc/anamnesis-migrate/url" }]
              | .volumeMounts += [{ name: "migrate", mountPath: "/etc/anamnesis-migrate", readOnly: true }]
            else . end
        )
      | .volumes += [{ name: "evidence", persistentVolumeClaim: { claimName: $claim } }]
      # Mode 0440 in decimal: readable by the group of the pod only, or the program refuses the file.
      | if $migrate then
          .volumes += [{
            name: "migrate",
            secret: { secretName: $migrate, defaultMode: 288, items: [{ key: "url", path: "url" }] }
          }]
        else . end
    )
  }
