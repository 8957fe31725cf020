/** The commands that write files of a home, for tests with full disks and kills, and the home in which they run. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type App, createApp } from '../../src/app.ts'
import type { CommandOutput } from '../../src/commands/lib/registry.ts'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'

export interface DiskCommand {
  readonly title: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly model?: () => ScriptedModel
  /** What is on the small disk; the home by default. */
  readonly disk?: 'workspace'
  /** Whether what the command said is true of more than its files; called when the disk has space again. */
  readonly hasWorked?: (app: App, output: unknown) => Promise<boolean>
}

const LONG = 'A line of a text that somebody wrote with care.\n'

export const NOTES = 'notes.md'

/** 15 KB, of which a file system with blocks of 4 KB writes the first part only. */
const longText = (title: string): string => `# ${title}\n${LONG.repeat(300)}`

const command = (name: string, input: DiskCommand['input'], title = name): DiskCommand => ({ title, name, input })

/** A run that writes a file, and whose tool says whether it is written. */
const runOf = (title: string, calls: NonNullable<ScriptedStep['calls']>): DiskCommand => ({
  ...command('run', { task: 'write', behaviour: 'solo' }, title),
  disk: 'workspace',
  model: () => scriptedModel([...calls.map((call) => ({ text: 'I write.', calls: [call] })), { text: 'done' }]),
  async hasWorked(app, output) {
    const { session_id } = output as CommandOutput<'run'>
    const { journal } = await app.run('sessions show', { id: session_id })
    return journal.every((record) => record.kind !== 'call_settled' || record.result.status === 'ok')
  },
})

/** A document is in the store first: if its file cannot follow yet, it follows later. */
const editOf = (document: 'STATE.md' | 'GOAL.md', text: string): DiskCommand => ({
  ...command('state edit', { document, text }, `state edit ${document}`),
  hasWorked: async (app) => (await app.run('state show', { document })).own_text.trim() === text.trim(),
})

export const COMMANDS: readonly DiskCommand[] = [
  command('secrets set', { name: 'NEW', value: 'a-new-value-0123456789' }),
  command('secrets set', { name: 'S1', value: `a-longer-value-${'x'.repeat(6000)}` }, 'secrets set, replaced'),
  command('secrets remove', { name: 'S2' }),
  command('budget set', { key: 'per_day_usd', value: '11' }),
  command('policy set', { allow: 'api.example.com', quiet_hours: '22:00-07:00' }),
  command('agent edit', { id: 'writer', role: longText('A new role') }, 'agent edit --role'),
  command('agent edit', { id: 'writer', self: longText('A new self') }, 'agent edit --self'),
  command('agent edit', { id: 'writer', schedule: '0 9 * * *', yes: true }, 'agent edit --schedule'),
  command('agent edit', { id: 'inline', description: 'another one' }, 'agent edit in tireless.yaml'),
  command('agent disable', { id: 'writer' }),
  command('models add', {
    ...{ model: 'm1', type: 'openai-compatible', name: 'local', base_url: 'http://127.0.0.1:9/v1', untested: true },
  }),
  command('models set', { role: 'default', model: 'fake/other' }),
  command('channels add', {
    ...{ name: 'webhook', url: 'https://hooks.example.com/x', secret: 'webhook-secret-0123456789', untested: true },
  }),
  command('mcp add', { name: 'files', command: 'false', key: 'mcp-key-0123456789', key_as: 'KEY', untested: true }),
  command('plugins new', { name: 'weather' }),
  editOf('STATE.md', longText('My state')),
  editOf('GOAL.md', longText('My goal')),
  runOf('run, new file', [{ tool: 'create_file', args: { path: 'new.md', content: longText('From an agent') } }]),
  runOf('run, replaced file', [
    { tool: 'view_file', args: { path: NOTES } },
    { tool: 'create_file', args: { path: NOTES, content: longText('From an agent') } },
  ]),
  runOf('run, edited file', [
    { tool: 'view_file', args: { path: NOTES } },
    { tool: 'edit_file', args: { path: NOTES, old: '# My notes', new: '# My notes, edited' } },
  ]),
]

export const prepareWorkspace = (workspace: string): void => {
  mkdirSync(workspace, { recursive: true })
  writeFileSync(join(workspace, NOTES), longText('My notes'))
  const author = ['-c', 'user.name=owner', '-c', 'user.email=owner@localhost']
  for (const words of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'before'],
  ])
    spawnSync('git', [...author, ...words], { cwd: workspace })
}

/** Contract: a home with files of several blocks. */
export async function prepareHome(home: string): Promise<void> {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const secrets = Object.fromEntries(
    ['S1', 'S2', 'S3', 'S4'].map((name) => [
      name,
      { value: `${name}-${'v'.repeat(4000)}`, set_at: '2026-11-19T00:00:00.000Z', to: [] },
    ]),
  )
  writeFileSync(join(home, 'secrets.json'), `${JSON.stringify({ version: 1, secrets }, null, 2)}\n`, { mode: 0o600 })
  const config = `sandbox: off
${'# A comment that its owner wrote to remember why a setting is as it is.\n'.repeat(120)}
models: { default: fake/m, providers: { fake: { type: openai-compatible, base_url: 'http://127.0.0.1:9/v1' } } }
kernel:
  agents:
    - agent_id: inline
      prompt: ${JSON.stringify(LONG.trim())}
# The last key: a file that ends before it still reads well.
retention: { days: null }
`
  writeFileSync(join(home, 'tireless.yaml'), config)
  const agent = join(home, 'agents', 'writer')
  mkdirSync(agent, { recursive: true })
  writeFileSync(join(agent, 'agent.yaml'), `# The writer.\n${'# Why.\n'.repeat(900)}workspace: workspaces/w\n`)
  writeFileSync(join(agent, 'role.md'), longText('My role'))
  writeFileSync(join(agent, 'self.md'), longText('My self'))
  // Makes the database and the documents, so that a command writes only what is its own.
  const app = await createApp({ home })
  await app.run('state edit', { document: 'STATE.md', text: longText('State before') })
  await app.run('state edit', { document: 'GOAL.md', text: longText('Goal before') })
  await app.close()
}
