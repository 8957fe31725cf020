/** What people read after commands: sentences with the next step, in the language of their terminal. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MAIN, NODE_FLAGS } from './crash/kills.ts'
import { createHome, startKernelIn, tireless, tirelessJson, tirelessWith } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'

const ENGLISH = { ...process.env, LC_ALL: 'en_US.UTF-8' }
const CHINESE = { ...process.env, LC_ALL: 'zh_CN.UTF-8' }

test('enqueue into a stopped home says that nothing runs yet; cancel says what changed, or what to do', async (t) => {
  const home = freshFolder(t)
  const queued = await tireless(home, 'enqueue', 'water the plants')
  assert.match(queued.stdout, /^Queued as [0-9a-f]{8}\. .*\nThe kernel is stopped: nothing runs until tireless start/)
  assert.match((await tireless(home, 'queue', 'cancel', 'last')).stdout, /^[0-9a-f]{8}: pending → cancelled\n$/)
  assert.match((await tireless(home, 'queue', 'cancel', 'nosuch')).stderr, /no such dispatch.*tireless queue list/)
  assert.match((await tireless(home, 'stop')).stdout, /^Nothing to stop/)
})

test('a mistyped --home is refused, and no home is created there', async (t) => {
  const home = join(freshFolder(t), 'nowhere')
  const refused = await tireless(home, 'status')
  assert.equal(refused.exit, 1)
  assert.match(refused.stderr, /there is no home at this path; got .*nowhere; do this: .*tireless init --home/)
  assert.equal(existsSync(home), false)
})

test('an unknown option is refused in the style of all errors', async (t) => {
  assert.match((await tireless(freshFolder(t), 'agent', 'list', '--foo')).stderr, /^usage: unknown option '--foo'/)
})

test('status is a table in the language of the terminal; --json does not change with it', async (t) => {
  const home = freshFolder(t)
  const english = (await tirelessWith(ENGLISH, home, 'status')).stdout
  assert.match(english, /^kernel {9}stopped; run: tireless start\nnext beat {6}none/)
  assert.match(english, /\nmodel {10}offline\/rules \(only a stand-in; /)
  const chinese = (await tirelessWith(CHINESE, home, 'status')).stdout
  assert.match(chinese, /^内核 {6}已停止；启动：tireless start\n下次节拍 {2}内核停止时没有\n/)
  assert.match(
    (await tirelessWith(CHINESE, home, 'queue', 'show', 'nosuch')).stderr,
    /；请这样做：run tireless queue list/,
  )
  assert.equal((await tirelessWith(CHINESE, home, 'status', '--json')).stdout, (await json(home)).stdout)
})

const json = (home: string) => tirelessWith(ENGLISH, home, 'status', '--json')

test('a second start names the page of the running kernel and exits with 75; status names it too', async (t) => {
  const home = await createHome(t, [])
  await startKernelIn(t, home)
  const { page } = await tirelessJson<{ page: string }>(home, 'status')
  assert.match(page, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.ok((await tirelessWith(ENGLISH, home, 'status')).stdout.includes(page))
  const second = await tireless(home, 'start')
  assert.equal(second.exit, 75)
  assert.ok(second.stderr.includes(`running already in this home; its page is ${page}; got process `), second.stderr)
  assert.match(second.stderr, /; do this: open the page: tireless open; or stop it: tireless stop\n$/)
  assert.match((await tirelessWith(ENGLISH, home, 'enqueue', 'water the plants')).stdout, /^Queued as \w+\. .*\n$/)
  assert.match((await tirelessWith(ENGLISH, home, 'pause')).stdout, /^Paused since now: .*tireless resume\n$/)
  assert.match((await tirelessWith(CHINESE, home, 'resume')).stdout, /^已恢复：/)
  assert.match((await tirelessWith(ENGLISH, home, 'stop')).stdout, /^Stopped\. .*tireless start\n$/)
})

test('schedule list says each schedule in words, beside its cron line', async (t) => {
  const home = freshFolder(t)
  const added = ['--agent', 'default', '--prompt', 'report', '--cron', '30 9 * * mon-fri', '--id', 'report']
  assert.match((await tirelessWith(ENGLISH, home, 'schedule', 'add', ...added)).stdout, /^report runs default, next /)
  const list = (env: NodeJS.ProcessEnv) => tirelessWith(env, home, 'schedule', 'list')
  assert.match((await list(ENGLISH)).stdout, /report {10}Monday to Friday at 09:30 +30 9 \* \* mon-fri/)
  assert.match((await list(CHINESE)).stdout, /report {10}每周一至周五 09:30 +30 9 \* \* mon-fri/)
  assert.match((await tirelessWith(ENGLISH, home, 'schedule', 'pause', 'report')).stdout, /^report is paused\. Resume/)
})

test('approvals list says when nothing waits', async (t) => {
  const home = freshFolder(t)
  assert.equal((await tirelessWith(ENGLISH, home, 'approvals', 'list')).stdout, 'Nothing waits for your approval.\n')
  assert.equal((await tirelessWith(CHINESE, home, 'approvals', 'list')).stdout, '没有等待批准的调用。\n')
})

test('init, run, once, service and models speak Chinese on a Chinese terminal', async (t) => {
  const home = freshFolder(t)
  const chinese = (...args: string[]) => tirelessWith(CHINESE, home, ...args)
  assert.match(
    (await chinese('init', '--yes')).stdout,
    /^目录 {4}.*\n已写入 {2}agents[\s\S]*\n下一步 {2}tireless start\n$/,
  )
  const ran = await chinese('run', 'Write "a" to a.md.')
  assert.match(ran.stderr, /^没有配置模型。[\s\S]*\n工作目录：\/[\s\S]*\n已写入 \/.*a\.md\n轨迹：tireless trace show /)
  assert.match((await chinese('once')).stdout, /^success: 完成 \d，失败 0，等待 0，用时 /)
  assert.match((await chinese('service', 'status')).stdout, /^已安装 {6}否\n[\s\S]*\n没有安装。要在登录时运行：/)
  const models = (await chinese('models', 'list')).stdout
  assert.match(models, /\n要使用模型：\n {2}1\. 在启动 Tireless 的 shell 中：export ANTHROPIC_API_KEY=…/)
})

const SMALL_DISK = ['unshare', '-Urm', 'sh', '-c']
const hasSmallDisk = spawnSync('unshare', [...SMALL_DISK.slice(1), 'mount -t tmpfs tmpfs /mnt']).status === 0

test('status says that the disk is full before a write fails', { skip: !hasSmallDisk && 'no mount here' }, (t) => {
  const home = freshFolder(t)
  const status = [process.execPath, ...NODE_FLAGS, MAIN, 'status', '--home', home].join(' ')
  const script = `mount -t tmpfs -o size=15m tmpfs ${home} && ${status}`
  const { stdout } = spawnSync('unshare', [...SMALL_DISK.slice(1), script], { encoding: 'utf8', env: ENGLISH })
  assert.match(stdout, /\nhealth +the disk of the home is full \(\d+ MB free\)\. Do this: free some space\n/)
})
