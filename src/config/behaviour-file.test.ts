import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SHIPPED_AGENTS } from '../config.ts'
import { loadBehaviourSpecs } from './agent-behaviours.ts'
import { parseBehaviourFile } from './behaviour-file.ts'

const parse = (text: string) => parseBehaviourFile('behaviours/plan.md', 'plan', text)
const withSettings = (yaml: string, body = '## process_rules\nrules'): string => `---\n${yaml}\n---\n${body}\n`

describe('O16: the file of a behaviour', () => {
  test('holds settings and texts; what it leaves out has a safe default', () => {
    const spec = parse(
      withSettings('tools: [view_file]\nmemory: { talk: 100, todos: 50 }\nstep_limit: 5\nfallback: do'),
    )
    assert.deepEqual(spec, {
      ...{ name: 'plan', tools: ['view_file'], skills: [], access: 'read_only', output: 'behaviour' },
      memory: [
        { section: 'talk', tokens: 100 },
        { section: 'todos', tokens: 50 },
      ],
      ...{ step_limit: 5, fallback: 'do', process_rules: 'rules', policy: '', toolbox: '' },
      input: '{messages}\n\n{events}\n\n{todo}\n\n{last_step}\n\n{feedback}',
    })
    assert.equal(parse(withSettings('step_limit: null')).step_limit, null)
    assert.equal(parse(withSettings('tools: []').replaceAll('\n', '\r\n')).process_rules, 'rules')
  })

  for (const [what, text, message] of [
    ['an unknown key', withSettings('step_limits: 3'), /plan\.md:2:1.*step_limits.*rename it to step_limit$/],
    ['a key far from all', withSettings('colour: red'), /colour is not a known key.*one of tools, skills, access/],
    ['an unknown section', withSettings('memory: { todo: 5 }'), /memory.*todo/],
    ['the limit 0', withSettings('step_limit: 0'), /step_limit.*null/],
    ['an unknown heading', withSettings('', '## process_rules\nx\n## polices\ny'), /## polices.*rename it to policy/],
    ['a heading twice', withSettings('', '## process_rules\nx\n## process_rules\ny'), /twice/],
    ['no rules', withSettings('', '## policy\nx'), /no rules.*## process_rules/],
    ['an unknown placeholder', withSettings('', '## process_rules\nx\n## input\n{message}'), /\{message\}.*messages/],
    [
      'a file that is too long',
      withSettings('', `## process_rules\n${'x'.repeat(100_000)}`),
      /too long.*at most 100000/,
    ],
    ['no settings', '## process_rules\nrules', /does not begin with settings/],
    ['access of an unknown kind', withSettings('access: all'), /access.*write.*read_only.*copy/],
  ] as const)
    test(`case 78, case 113: ${what} is an error that says where and what to do`, () => {
      assert.throws(() => parse(text), { code: 'config_invalid', message })
    })

  test('the shipped set loads, and a file in the home wins over the shipped one', (t) => {
    const home = mkdtempSync(join(tmpdir(), 'behaviours-'))
    t.after(() => rmSync(home, { recursive: true }))
    const folder = join(home, 'assistant/behaviours')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'plan.md'), withSettings('', '## process_rules\nmine'))
    const specs = loadBehaviourSpecs([home, SHIPPED_AGENTS])
    assert.deepEqual([...(specs.get('assistant')?.keys() ?? [])].toSorted(), [
      ...['adjust', 'check', 'do', 'plan', 'resolve_router', 'router'],
    ])
    assert.equal(specs.get('assistant')?.get('plan')?.process_rules, 'mine')
    writeFileSync(join(folder, 'My Plan.md'), withSettings(''))
    assert.throws(() => loadBehaviourSpecs([home]), /My Plan.*rename the file/)
  })
})
