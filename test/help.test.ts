/** Help texts: every group is described, and every verb has an example that runs as written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildProgram } from '../src/cli/program.ts'
import { inputFields } from '../src/commands/lib/input-fields.ts'
import { GROUP_DESCRIPTIONS, loadCommands } from '../src/commands/lib/registry.ts'
import { tireless } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'

const COMMANDS = await loadCommands()

const QUIET = { writeOut: () => {}, writeErr: () => {} }

/** Splits a shell command without variables into words. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? '')

for (const command of COMMANDS)
  test(`${command.name}: the example names the command, parses, and is valid input`, async () => {
    assert.match(command.example, new RegExp(`^${command.name}( |$)`))
    let parsed: unknown
    const program = buildProgram(COMMANDS, QUIET, async (found, input) => {
      assert.equal(found, command)
      parsed = input
    })
    await program.parseAsync(wordsOf(command.example), { from: 'user' })
    // The value of a secret is read from standard input, so the example does not contain it.
    const secrets = inputFields(command).flatMap(({ key, isSecret }) => (isSecret ? [[key, 'x']] : []))
    const input = { ...(parsed as object), ...Object.fromEntries(secrets) }
    assert.deepEqual(command.input.strict().safeParse(input).error, undefined)
  })

test('every group has a description, and no description is unused', () => {
  const groups = COMMANDS.flatMap(({ name }) => name.split(' ').slice(0, -1))
  assert.deepEqual(Object.keys(GROUP_DESCRIPTIONS), [...new Set(groups)].toSorted())
  for (const description of Object.values(GROUP_DESCRIPTIONS)) assert.notEqual(description, '')
})

test('--help shows the description of a group and the example of a verb', async (t) => {
  const home = freshFolder(t)
  const group = await tireless(home, 'queue', '--help')
  assert.match(group.stdout, /list, cancel, retry, pause and prioritize dispatches/)
  const verb = await tireless(home, 'queue', 'list', '--help')
  assert.match(verb.stdout, /Example:\n +tireless queue list --status failed/)
})
