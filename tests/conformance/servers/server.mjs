// A server of the official TypeScript SDK, which argument one says where to find: a tool of each kind, a resource, a prompt.
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/`);
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { z } = require("zod");

const server = new McpServer({ name: "typescript", version: "1" }, { capabilities: { logging: {} } });
const text = (text) => ({ content: [{ type: "text", text }] });
let cancelled = 0;

server.registerTool(
  "add",
  { description: "Adds two numbers.", inputSchema: { a: z.number(), b: z.number() }, outputSchema: { result: z.number() } },
  async ({ a, b }) => ({ ...text(`${a + b}`), structuredContent: { result: a + b } }),
);
server.registerTool(
  "count",
  { description: "Counts, and tells how far it is.", inputSchema: { to: z.number() } },
  async ({ to }, { _meta, sendNotification }) => {
    for (let progress = 1; progress <= to; progress++) {
      const params = { progressToken: _meta.progressToken, progress, total: to };
      await sendNotification({ method: "notifications/progress", params });
    }
    return text(`counted to ${to}`);
  },
);
server.registerTool("wait", { description: "Waits until it is cancelled." }, ({ signal }) =>
  new Promise((resolve) => signal.addEventListener("abort", () => (cancelled++, resolve(text("cancelled"))))),
);
server.registerTool("cancellations", { description: "Says how often the waiting was cancelled." }, async () =>
  text(`cancelled ${cancelled}`),
);
server.registerTool("ask", { description: "Asks the user for a name." }, async () => {
  const properties = { name: { type: "string" } };
  const requestedSchema = { type: "object", properties, required: ["name"] };
  const answer = await server.server.elicitInput({ message: "Who are you?", requestedSchema });
  return text(`${answer.action}: ${answer.content.name}`);
});
server.registerResource("text", "test://text", { description: "A text." }, async (uri) => ({
  contents: [{ uri: uri.href, text: "a text" }],
}));
server.registerPrompt("greet", { description: "Greets somebody.", argsSchema: { name: z.string() } }, ({ name }) => ({
  messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }],
}));

await server.connect(new StdioServerTransport());
