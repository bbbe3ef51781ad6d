// What a program of Node does that knows nothing of the gateway: prints what it sees, one fact a line.
import { createRequire } from "node:module";

const { Client } = createRequire(import.meta.url)("pg");
const [host, port, database, user, password] = process.argv.slice(2);
const client = new Client({ host, port: Number(port), database, user, password });
await client.connect();

const say = (what, value) => console.log(`${what}: ${JSON.stringify(value)}`);
const plain = await client.query("select ward, count(*) as n from patients group by ward order by ward");
say("plain", plain.rows);
say("types", plain.fields.map((field) => field.dataTypeID));
const counted = "select count(*) as n from patients where sex = $1 and birth_date > $2 and cost >= $3";
for (const sex of ["F", "M"]) {
  const named = { name: "counted", text: counted, values: [sex, new Date(0 - 2e12), 0] };
  say(sex, (await client.query(named)).rows[0].n);
}
try {
  await client.query("select name from patients");
} catch (refused) {
  say("refused", [refused.code, refused.position]);
}
say("parallel", (await Promise.all([1, 2, 3].map((n) => client.query("select $1::int as n", [n])))).map((r) => r.rows[0].n));
await client.end();
