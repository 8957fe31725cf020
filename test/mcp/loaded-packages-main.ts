/** Prints the MCP packages that commands load: loaded-packages-main.ts HOME COMMAND… */

import { registerHooks } from 'node:module'

const loaded = new Set<string>()
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('@modelcontextprotocol/')) loaded.add(specifier)
    return next(specifier, context)
  },
})
const [home = '', ...commands] = process.argv.slice(2)
const { createApp } = await import('../../src/app.ts')
const app = await createApp({ home })
for (const command of commands) await app.runByName(command, command === 'start' ? { until_idle: true } : {})
await app.close()
process.stdout.write(JSON.stringify([...loaded]))
