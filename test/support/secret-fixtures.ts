/** Sets secrets, and searches files for them. */

import { spawn } from 'node:child_process'
import type { App } from '../../src/app.ts'
import type { Json } from '../../src/domain/json.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'
import { MAIN, NODE_FLAGS } from '../crash/kills.ts'

/** Runs the command line with standard input and extra environment variables. */
export async function commandLine(args: readonly string[], { input = '', env = {} }: { input?: string; env?: object }) {
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN, ...args], { env: { ...process.env, ...env } })
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString('utf8')),
  )
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
  return { exit: child.exitCode, stdout: stdout ?? '', stderr: stderr ?? '' }
}

export async function setSecrets(app: App, secrets: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(secrets)) await app.run('secrets set', { name, value })
}

export const call = (tool: string, args: Json): ScriptedStep => ({ calls: [{ tool, args }] })
