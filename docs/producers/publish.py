"""Sends one CloudEvent to Anamnesis. Needs pika: pip install pika"""
import datetime, json, os, sys, uuid
import pika

parameters = pika.URLParameters(os.environ["AMQP_URL"])
connection = pika.BlockingConnection(parameters)
channel = connection.channel()
channel.confirm_delivery()  # from now on basic_publish raises when the broker does not take the message
data = json.load(sys.stdin)
event_id = os.environ.get("EVENT_ID", str(uuid.uuid4()))  # the same id again is the same message: safe to repeat
channel.basic_publish(
    exchange=os.environ.get("EXCHANGE", "anamnesis.ingest"),
    routing_key="bulk.anamnesis.document.submitted.v1",  # "realtime." for chat, commands and signals
    body=json.dumps(data).encode(),
    mandatory=True,  # a message that no queue takes comes back as UnroutableError
    properties=pika.BasicProperties(
        content_type="application/json",
        delivery_mode=2,
        message_id=event_id,
        user_id=parameters.credentials.username,  # RabbitMQ compares it with the connection: nobody sends as another
        headers={
            "cloudEvents_specversion": "1.0",
            "cloudEvents_id": event_id,
            "cloudEvents_source": os.environ.get("SOURCE", "urn:clinic:records"),  # a binding must name it
            "cloudEvents_type": "anamnesis.document.submitted.v1",
            "cloudEvents_time": datetime.datetime.now(datetime.timezone.utc).isoformat(),  # the lag is measured from here
            "cloudEvents_partitionkey": data["patient_id"],
        },
    ),
)
connection.close()
print(event_id)
