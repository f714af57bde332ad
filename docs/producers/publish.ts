// Sends one CloudEvent to Anamnesis. Needs amqplib: npm install amqplib
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import amqp from "amqplib";

const connection = await amqp.connect(process.env.AMQP_URL!);
const channel = await connection.createConfirmChannel();
let returned = false;
channel.on("return", () => (returned = true)); // no queue takes it: the broker gives it back, then confirms
const data = JSON.parse(readFileSync(0, "utf8"));
const id = process.env.EVENT_ID ?? randomUUID(); // the same id again is the same message: safe to repeat
channel.publish(
  process.env.EXCHANGE ?? "anamnesis.ingest",
  "bulk.anamnesis.document.submitted.v1", // "realtime." for chat, commands and signals
  Buffer.from(JSON.stringify(data)),
  {
    mandatory: true,
    persistent: true,
    contentType: "application/json",
    messageId: id,
    userId: decodeURIComponent(new URL(process.env.AMQP_URL!).username), // RabbitMQ compares it with the connection
    headers: {
      "cloudEvents_specversion": "1.0",
      "cloudEvents_id": id,
      "cloudEvents_source": process.env.SOURCE ?? "urn:clinic:records", // a binding must name it
      "cloudEvents_type": "anamnesis.document.submitted.v1",
      "cloudEvents_time": new Date().toISOString(), // the lag is measured from here
      "cloudEvents_partitionkey": data.patient_id,
    },
  },
);
await channel.waitForConfirms();
await connection.close();
if (returned) throw new Error("no queue takes this message: run `anamnesis topology apply`");
console.log(id);
