// biome-ignore-all lint/suspicious/noTemplateCurlyInString: "${NAME}" is what is tested here
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { explainConfig, type LoadedConfig, loadConfig, withNewAgent } from '../config.ts'
import { TirelessError } from '../domain/error.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tireless-roster-'))
})
afterEach(() => rmSync(home, { recursive: true }))

function writeHomeFile(path: string, text: string): string {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const load = (): LoadedConfig =>
  loadConfig({ file: join(home, 'tireless.yaml'), agents: join(home, 'agents'), env: { HOME: '/h', X: 'y' } })

function errorMessage(): string {
  try {
    load()
  } catch (error) {
    assert.ok(error instanceof TirelessError)
    assert.equal(error.code, 'config_invalid')
    return error.message.replaceAll(home, '~')
  }
  return assert.fail('was accepted')
}

describe('E1: the roster', () => {
  test('E1: agents of the file come first, then those with a folder, by name; each names its file', () => {
    writeHomeFile('tireless.yaml', 'kernel: { agents: [{ agent_id: z, prompt: p }] }')
    const b = writeHomeFile('agents/b/agent.yaml', 'prompt: do it\npriority: 3\n')
    const a = writeHomeFile('agents/a/agent.yaml', '# mine\nagent_id: a\nprompt: "${X}"\nschedule: "0 9 * * *"\n')
    const { config, roster, sources, unused } = load()
    assert.deepEqual(
      config.kernel.agents.map(({ agent_id, prompt, priority, schedule }) => ({
        agent_id,
        prompt,
        priority,
        schedule,
      })),
      [
        { agent_id: 'z', prompt: 'p', priority: 0, schedule: null },
        { agent_id: 'a', prompt: 'y', priority: 0, schedule: '0 9 * * *' },
        { agent_id: 'b', prompt: 'do it', priority: 3, schedule: null },
      ],
    )
    assert.deepEqual(roster, [
      { agent_id: 'z', file: null, path: ['kernel', 'agents', 0] },
      { agent_id: 'a', file: a, path: [] },
      { agent_id: 'b', file: b, path: [] },
    ])
    assert.equal(sources['kernel.agents[1].prompt'], 'env:X')
    assert.equal(sources['kernel.agents[2].priority'], `${b}:2`)
    assert.equal(sources['kernel.agents[2].agent_id'], b)
    assert.equal(sources['kernel.agents[2].enabled'], 'default')
    assert.equal(explainConfig(load()).find(({ key }) => key === 'kernel.agents[2].prompt')?.value, 'do it')
    assert.deepEqual(unused, [])
  })

  test('E1: role.md is the prompt of an agent that has none; braces and dollars in it are not expanded', () => {
    writeHomeFile('agents/a/agent.yaml', 'enabled: true\n')
    const role = writeHomeFile('agents/a/role.md', 'You tend ${THIS} with {STATE}.\n')
    writeHomeFile('agents/b/agent.yaml', 'prompt: now\n')
    writeHomeFile('agents/b/role.md', 'You are b.\n')
    const { config, sources } = load()
    assert.deepEqual(
      config.kernel.agents.map(({ prompt }) => prompt),
      ['You tend ${THIS} with {STATE}.', 'now'],
    )
    assert.equal(sources['kernel.agents[0].prompt'], role)
  })

  test('E1: a folder without agent.yaml is no agent; paths may begin with ~/', () => {
    writeHomeFile('agents/a/self.md', 'x')
    writeHomeFile('agents/.git/HEAD', 'x')
    writeHomeFile('agents/README.md', 'x')
    writeHomeFile('agents/b/agent.yaml', 'prompt: p\nworkspace: ~/w\nwatch: [~/a, { git: ~/r }, b]\n')
    const [only, ...others] = load().config.kernel.agents
    assert.deepEqual(others, [])
    assert.equal(only?.workspace, '/h/w')
    assert.deepEqual(only?.watch, ['/h/a', { git: '/h/r' }, 'b'])
  })

  for (const [what, files, message] of [
    [
      'an unknown key names the nearest one',
      { 'agents/a/agent.yaml': 'prompt: p\nshedule: "@daily"\n' },
      /^~\/agents\/a\/agent\.yaml:2:1: shedule is not a known key; do this: rename it to schedule$/,
    ],
    [
      'a wrong value says what was expected',
      { 'agents/a/agent.yaml': 'prompt: p\npriority: high\n' },
      /^~\/agents\/a\/agent\.yaml:2:1: priority is not valid; got "high"; expected a whole number/,
    ],
    [
      'one id in the file and in a folder',
      { 'tireless.yaml': 'kernel:\n  agents:\n    - { agent_id: A, prompt: p }\n', 'agents/a/agent.yaml': 'prompt: p' },
      /^~\/agents\/a\/agent\.yaml: two agents have the same id; got a, which ~\/tireless\.yaml:3 already uses; /,
    ],
    [
      'an id that differs from the folder name',
      { 'agents/a/agent.yaml': 'agent_id: b\nprompt: p' },
      /agent_id differs from the folder name; got b; expected a; do this: leave agent_id out/,
    ],
    [
      'a folder name that is no valid id',
      { 'agents/a b/agent.yaml': 'prompt: p' },
      /got "a b"; expected a name of 1 to 64/,
    ],
    [
      'no prompt',
      { 'agents/a/agent.yaml': 'priority: 1' },
      /expected the key prompt, or a file role\.md in the same folder/,
    ],
    ['no YAML', { 'agents/a/agent.yaml': 'prompt: "x' }, /^~\/agents\/a\/agent\.yaml:1:\d+: /],
  ] as const)
    test(`E1: a folder is refused with its file and the reason: ${what}`, () => {
      for (const [path, text] of Object.entries(files)) writeHomeFile(path, text)
      assert.match(errorMessage(), message)
    })

  test('E1: a new agent is written completely or not at all, and never outside its folder', () => {
    const agents = join(home, 'agents')
    const write = (file: string): void => writeFileSync(file, 'prompt: p\n')
    assert.equal(withNewAgent(agents, 'a', write), join(agents, 'a', 'agent.yaml'))
    assert.throws(() => withNewAgent(agents, 'a', write), { code: 'conflict' })
    for (const id of ['../a', 'a/b', '', '.a']) assert.throws(() => withNewAgent(agents, id, write), { code: 'usage' })
    const broken = (): never => {
      throw new Error('no')
    }
    assert.throws(() => withNewAgent(agents, 'b', broken), /no/)
    assert.equal(existsSync(join(agents, 'b')), false)
    writeHomeFile('agents/c/self.md', 'mine')
    assert.throws(() => withNewAgent(agents, 'c', broken), /no/)
    assert.equal(existsSync(join(agents, 'c', 'self.md')), true)
  })
})
