# A pod that runs one command of the program, with the image, settings, volumes and secrets of a worker's Deployment. Use it
# when no worker runs, or when the command writes files: the folder /evidence is a volume claim that you name.
#
#   kubectl get deployment -n $NS $WORKER -o json |
#       jq -f deploy/kubernetes/command-pod.jq --arg claim anamnesis-evidence --args -- backup /evidence/2026-07-01 |
#       kubectl create -n $NS -f -
#
# With the embedded store the pod must be on the node of a running worker, because its volumes are mounted on one node.
.metadata.labels["app.kubernetes.io/instance"] as $release
| .metadata.labels["app.kubernetes.io/name"] as $chart
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
          | .volumeMounts += [{ name: "evidence", mountPath: "/evidence" }]
        )
      | .volumes += [{ name: "evidence", persistentVolumeClaim: { claimName: $claim } }]
    )
  }
