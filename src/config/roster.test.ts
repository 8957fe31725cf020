// biome-ignore-all lint/suspicious/noTemplateCurlyInString: "${NAME}" is what is tested here
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { explain, type LoadedConfig, loadConfig, withNewAgent } from '../config.ts'
import { TirelessError } from '../domain/error.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tireless-roster-'))
})
afterEach(() => rmSync(home, { recursive: true }))

function put(path: string, text: string): string {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const load = (): LoadedConfig =>
  loadConfig({ file: join(home, 'tireless.yaml'), agents: join(home, 'agents'), env: { HOME: '/h', X: 'y' } })

function refusal(): string {
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
  test('E1: agents of the file come first, then those with a folder, by name; each with where it is described', () => {
    put('tireless.yaml', 'kernel: { agents: [{ agent_id: z, prompt: p }] }')
    const b = put('agents/b/agent.yaml', 'prompt: do it\npriority: 3\n')
    const a = put('agents/a/agent.yaml', '# mine\nagent_id: a\nprompt: "${X}"\nschedule: "0 9 * * *"\n')
    const { config, roster, sources, unused } = load()
    assert.deepEqual(
      config.kernel.agents.map(({ agent_id, prompt, priority, schedule }) => [agent_id, prompt, priority, schedule]),
      [
        ['z', 'p', 0, null],
        ['a', 'y', 0, '0 9 * * *'],
        ['b', 'do it', 3, null],
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
    assert.equal(explain(load()).find(({ key }) => key === 'kernel.agents[2].prompt')?.value, 'do it')
    assert.deepEqual(unused, [])
  })

  test('E1: a role is what an agent is told first, or all of it; braces and dollars in it are its own', () => {
    put('agents/a/agent.yaml', 'enabled: true\n')
    const role = put('agents/a/role.md', 'You tend ${THIS} with {STATE}.\n')
    put('agents/b/agent.yaml', 'prompt: now\n')
    put('agents/b/role.md', 'You are b.\n')
    const { config, sources } = load()
    assert.deepEqual(
      config.kernel.agents.map(({ prompt }) => prompt),
      ['You tend ${THIS} with {STATE}.', 'You are b.\n\nnow'],
    )
    assert.equal(sources['kernel.agents[0].prompt'], role)
  })

  test('E1: a folder that describes nobody is nobody; paths may begin at the user’s own', () => {
    put('agents/a/self.md', 'x')
    put('agents/.git/HEAD', 'x')
    put('agents/README.md', 'x')
    put('agents/b/agent.yaml', 'prompt: p\nworkspace: ~/w\nwatch: [~/a, { git: ~/r }, b]\n')
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
      /^~\/agents\/a\/agent\.yaml: two agents have one id; got a, which is in ~\/tireless\.yaml:3 already; do this: /,
    ],
    [
      'an id that is not its folder’s',
      { 'agents/a/agent.yaml': 'agent_id: b\nprompt: p' },
      /agent_id is not the name of its folder; got b; expected a; do this: leave agent_id out/,
    ],
    ['a folder that can be no id', { 'agents/a b/agent.yaml': 'prompt: p' }, /got "a b"; expected a name of 1 to 64/],
    ['nothing to do', { 'agents/a/agent.yaml': 'priority: 1' }, /expected prompt, or a file role\.md beside it/],
    ['no YAML', { 'agents/a/agent.yaml': 'prompt: "x' }, /^~\/agents\/a\/agent\.yaml:1:\d+: /],
  ] as const)
    test(`E1: refused: ${what}`, () => {
      for (const [path, text] of Object.entries(files)) put(path, text)
      assert.match(refusal(), message)
    })

  test('E1: a new agent is written whole or not at all, and never outside of its folder', () => {
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
    put('agents/c/self.md', 'mine')
    assert.throws(() => withNewAgent(agents, 'c', broken), /no/)
    assert.equal(existsSync(join(agents, 'c', 'self.md')), true)
  })
})
