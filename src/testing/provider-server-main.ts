/**
 * Starts the provider server: `node provider-server-main.ts --script FILE.json [--port N] [--log FILE]`. Ends on
 * SIGTERM.
 */

import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { TirelessError } from '../domain/error.ts'
import { type Script, startProviderServer } from './provider-server.ts'

const { values } = parseArgs({
  options: { script: { type: 'string' }, port: { type: 'string' }, log: { type: 'string' } },
})
if (values.script === undefined) throw new TirelessError('usage', { what: 'no script', fix: 'add --script FILE.json' })
const script: Script = JSON.parse(await readFile(values.script, 'utf8'))
const port = values.port === undefined ? undefined : Number(values.port)
const server = await startProviderServer({ script, port, log: values.log })
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.close())
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
