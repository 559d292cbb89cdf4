// Generates src/api/types.gen.ts from the JSON Schema of the backend's replies.
//
//   python -m tb_npu_plugin.backend.api_schema | npm run --silent types
//   npm run types -- schema.json            from a file
//   npm run types -- --check schema.json    fail when the committed file differs
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compile } from 'json-schema-to-typescript';

const TARGET = fileURLToPath(new URL('../src/api/types.gen.ts', import.meta.url));
const BANNER = `// Generated from tb_npu_plugin/backend/results.py by scripts/types.mjs. Do not edit.\n`;

/** The TypeScript source for a schema document (`{"$defs": …}`, or the bare definitions). */
export async function typesFrom(document) {
  const defs = structuredClone(document.$defs ?? document.definitions ?? document);
  for (const schema of Object.values(defs)) tidy(schema);
  const root = {
    title: 'Schema',
    type: 'object',
    additionalProperties: false,
    required: Object.keys(defs),
    properties: Object.fromEntries(
      Object.keys(defs).map((name) => [name, { $ref: `#/$defs/${name}` }]),
    ),
    $defs: defs,
  };
  const source = await compile(root, 'Schema', {
    additionalProperties: false,
    bannerComment: '',
    format: true,
    style: { singleQuote: true, printWidth: 100 },
  });
  return BANNER + source;
}

/** The server always sends every field, defaults included, so none is optional to a reader. */
function tidy(schema) {
  if (!schema.properties) return;
  schema.required = Object.keys(schema.properties);
  for (const property of Object.values(schema.properties)) {
    delete property.default;
    delete property.title;
  }
}

async function main(args) {
  const check = args.includes('--check');
  const file = args.find((arg) => !arg.startsWith('--'));
  const source = await typesFrom(JSON.parse(readFileSync(file ?? 0, 'utf8')));
  if (!check) {
    writeFileSync(TARGET, source);
    return 0;
  }
  if (readFileSync(TARGET, 'utf8') === source) return 0;
  console.error('src/api/types.gen.ts is out of date: run `make types`');
  return 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode = await main(process.argv.slice(2));
}
