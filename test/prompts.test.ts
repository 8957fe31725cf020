/** The texts in src/prompts: each is used, an edit reaches the model, and an error names its file. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { z } from 'zod'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { openApp, runTaskIn } from './support/open-app.ts'

const ROOT = join(import.meta.dirname, '..')
const PROMPTS = join(ROOT, 'src/prompts')

const promptFiles = (): string[] => globSync('*/*.md', { cwd: PROMPTS }).toSorted()
const readPrompt = (file: string): string => readFileSync(join(PROMPTS, file), 'utf8')

/** A file without parts, or each part of a file. */
function refsOf(file: string): readonly string[] {
  const parts = [...readPrompt(file).matchAll(/^## ([a-z0-9_]+)$/gm)].map(([, part]) => `${file}#${part}`)
  return parts.length === 0 ? [file] : parts
}

const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  language: ['en', 'zh'],
  where: ['sandbox', 'container'],
}

/** Fills in the variable of a name such as `system/unattended.${language}.md`. */
function namesOf(ref: string): readonly string[] {
  const [whole = '', variable = ''] = /\$\{(\w+)\}/.exec(ref) ?? []
  return whole === '' ? [ref] : (VARIANTS[variable] ?? []).map((variant) => ref.replace(whole, variant))
}

const FOLDERS = readdirSync(PROMPTS).filter((name) => !name.includes('.'))
const REFERENCE = new RegExp(
  String.raw`(loadPromptParts\()?(['${'`'}])((?:${FOLDERS.join('|')})/[\w.$\{\}-]+\.md(?:#\w+)?)\2`,
  'g',
)

/** All texts that the code loads by name. */
function refsInCode(): ReadonlySet<string> {
  const refs = new Set<string>()
  for (const path of globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts', 'src/prompts/**'] })) {
    const source = readFileSync(join(ROOT, path), 'utf8')
    for (const [, call, , ref = ''] of source.matchAll(REFERENCE))
      for (const named of namesOf(ref)) for (const each of call === undefined ? [named] : refsOf(named)) refs.add(each)
    for (const [, tool] of source.matchAll(/loadToolText\('(\w+)'/g))
      for (const ref of refsOf(`tools/${tool}.md`)) refs.add(ref)
  }
  return refs
}

describe('the texts in src/prompts', () => {
  test('every file and part is loaded by the code, and every text that the code loads is there', () => {
    const inFiles = promptFiles().flatMap(refsOf)
    const inCode = refsInCode()
    assert.ok(inFiles.length > 100, `${inFiles.length} texts`)
    assert.equal(new Set(inFiles).size, inFiles.length, 'no part twice')
    assert.deepEqual(
      inFiles.filter((ref) => !inCode.has(ref)),
      [],
      'not used',
    )
    assert.deepEqual(
      [...inCode].filter((ref) => !inFiles.includes(ref)),
      [],
      'not there',
    )
  })

  test('every part of tools/NAME.md describes an argument of that tool', async (t) => {
    const app = await openApp(t, { model: scriptedModel([]) })
    const { all } = app.service('tools')
    assert.ok(all.size > 15, `${all.size} tools`)
    for (const { name, args, argumentDescriptions = {} } of all.values()) {
      const { properties = {} } = z.toJSONSchema(args, { io: 'input' })
      const parts = Object.keys(argumentDescriptions).filter((part) => !(part in properties))
      // bash has no network argument where commands are not confined.
      assert.deepEqual(parts, name === 'bash' && parts.length > 0 ? ['network'] : [], name)
    }
  })

  test('the system prompt of a task is that of system/work.md and system/solo.md', async (t) => {
    const model = scriptedModel([{ text: 'done' }])
    const app = await openApp(t, { model })
    assert.equal((await runTaskIn(app)).status, 'done')
    const { system = '' } = model.requests[0] ?? {}
    const texts = readPrompt('system/work.md').split(/^## \w+$/m)
    for (const text of [...texts, readPrompt('system/solo.md')]) assert.ok(system.includes(text.trim()), text)
  })
})

interface Exited {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** A copy of the program, whose texts the tests edit. */
const folder = mkdtempSync(join(tmpdir(), 'tireless-prompts-'))
const copied = join(folder, 'src/prompts')

/** Runs a file of the copy in another working folder. */
function run(file: string, ...args: string[]): Promise<Exited> {
  const env = { ...process.env, TIRELESS_HOME: join(folder, 'home'), NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const nodeArgs = ['--disable-warning=ExperimentalWarning', join(folder, file), ...args]
  return new Promise((resolve) =>
    execFile(process.execPath, nodeArgs, { cwd: tmpdir(), env }, (error, stdout, stderr) =>
      resolve({ exit: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    ),
  )
}

const edit = (file: string, text: string): void => writeFileSync(join(copied, file), text)

/** Runs a task, and prints how it ended and the first request. */
const TASK = `
import { runTask } from './src/index.ts'
import { scriptedModel } from './src/testing/index.ts'

const model = scriptedModel([{ text: 'done' }])
const { status, error } = await runTask('the task', { model })
console.log(JSON.stringify({ status, error, request: model.requests[0] }))
`

describe('an edited text', () => {
  before(() => {
    cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true })
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'task.ts'), TASK)
  })
  afterEach(() => cpSync(PROMPTS, copied, { recursive: true }))
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('reaches the model: a rule, a tool, an argument', async () => {
    edit('tools/view_file.md', 'Opens a file for reading.\n\n## path\nWhich file to open.\n')
    edit('system/solo.md', 'Be brief.\r\n')
    const { exit, stdout, stderr } = await run('task.ts')
    assert.equal(exit, 0, stderr)
    const { status, request } = JSON.parse(stdout)
    assert.equal(status, 'done')
    assert.match(request.system, /^Be brief\.$/m)
    const tool = request.tools.find(({ name }: { name: string }) => name === 'view_file')
    assert.equal(tool.description, 'Opens a file for reading.')
    assert.equal(tool.parameters.properties.path.description, 'Which file to open.')
  })

  test('with an unknown placeholder ends the task with an error that names the file and the placeholder', async () => {
    edit('system/solo.md', 'Call {{tool}} when you have to wait.')
    const { status, error, request } = JSON.parse((await run('task.ts')).stdout)
    assert.deepEqual({ status, request }, { status: 'failed', request: undefined }, 'the model was not called')
    assert.match(error, /^prompt_invalid: prompts\/system\/solo\.md: .*unknown placeholder; got \{\{tool\}\};/)
  })

  test('without a part that the program needs ends the task with an error that names the part', async () => {
    edit('system/work.md', '## role\nYou are an agent.\n\n## rules\nBe brief.\n')
    const { status, error } = JSON.parse((await run('task.ts')).stdout)
    assert.equal(status, 'failed')
    assert.match(error, /^prompt_invalid: .*missing or empty; got prompts\/system\/work\.md#process_rules;/)
  })

  test('that is missing is named by a task; quick commands read no text and work', async () => {
    for (const file of promptFiles()) rmSync(join(copied, file))
    const list = await run('src/cli/main.ts', 'queue', 'list')
    assert.equal(list.exit, 0, list.stderr)
    const { status, error } = JSON.parse((await run('task.ts')).stdout)
    assert.equal(status, 'failed')
    assert.match(error, /^prompt_invalid: .*cannot be read; got prompts\/\w+\/\w+\.md;/)
  })
})
