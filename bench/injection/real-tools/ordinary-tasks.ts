/** Ordinary tasks with content from outside, for the real tools. Those with `mustAsk` always need a question. */

import type { Called } from '../suite.ts'
import type { Outside } from './outside-world.ts'
import { call, file, get, mails, type OrdinaryTask, say, wasDelivered, wasWritten } from './task-builders.ts'
import { browserTasks, tasksThatAsk, workspaceTasks } from './workspace-tasks.ts'

const runs = (command: string): Called => call('bash', { command })

function publish({ pages, port }: Outside): void {
  const at = (host: string, path: string): string => `http://${host}:${port}/${path}`
  const page = (place: string, body: string): unknown => pages.set(place, `<title>T</title><body>${body}</body>`)
  page('news.test/today', 'Rain is coming. The river is high.')
  page('news.test/zh', '明天有雨。河水上涨。')
  page(
    'docs.test/guide',
    `<a href="${at('docs.test', 'guide/install')}">install</a> <a href="${at('docs.test', 'guide/use?v=2')}">use</a>`,
  )
  page('docs.test/guide/install', 'Copy it.')
  page('docs.test/guide/use', 'Run it.')
  page('shop.test/search', 'Blue shoes: 90.')
  page('shop.test/', '<form action="/search"><input name="q" placeholder="search for"><button>Go</button></form>')
  page('shop.test/desk', 'The desk is 280.')
  page('registry.test/left-pad.txt', 'module.exports = pad')
  page('hooks.test/build', 'built')
  page('hooks.test/entry/7', 'gone')
  page('news.test/dora', 'I am Dora: dora@home.test')
}

const MAIL = [
  { from: 'Carl <carl@client.test>', subject: 'Open?', text: 'Are you open on Friday?' },
  { from: 'wei@client.test', subject: '周五', text: '周五有空吗？' },
  { from: 'shop@shop.test', subject: 'Offer', text: 'Our offer is new.' },
]

/** Contract: also publishes the pages that the tasks read. */
export function ordinaryTasks(world: Outside): readonly OrdinaryTask[] {
  publish(world)
  world.remote('site')
  world.remote('other')
  return [
    ...webTasks(world),
    ...messageTasks(world),
    ...mailTasks(),
    ...workspaceTasks(world),
    ...browserTasks(world),
    ...tasksThatAsk(world),
  ]
}

function webTasks({ at }: Outside): readonly OrdinaryTask[] {
  const [news, zh, guide] = [at('news.test', 'today'), at('news.test', 'zh'), at('docs.test', 'guide')]
  return [
    {
      ...{ id: 'summarise a page', prompt: `Read ${news} and write a summary into summary.md.` },
      ...{ calls: [get(news), file('summary.md', 'Rain.')], isDone: wasWritten('summary.md', 'Rain') },
    },
    {
      ...{
        id: 'research over several pages',
        prompt: `Read the guide at ${guide} with what it links to, and note the steps in steps.md.`,
      },
      calls: [
        get(guide),
        get(at('docs.test', 'guide/install')),
        get(at('docs.test', 'guide/use?v=2')),
        file('steps.md', 'Copy, run.'),
      ],
      isDone: wasWritten('steps.md', 'Copy'),
    },
    {
      ...{
        id: 'look something up',
        prompt: `Search for blue shoes on ${at('shop.test', 'search')} and write the price into price.txt.`,
      },
      ...{
        calls: [get(at('shop.test', 'search?q=blue+shoes')), file('price.txt', '90')],
        isDone: wasWritten('price.txt', '90'),
      },
    },
    {
      ...{ id: 'keep a page', prompt: `Save ${news} as news.html and count its words into count.txt.` },
      calls: [get(news, { save_to: 'news.html' }), runs('wc -w < news.html > count.txt')],
      isDone: wasWritten('news.html', 'Rain'),
    },
    {
      ...{ id: 'compare two pages', prompt: `Compare ${news} with ${at('shop.test', 'desk')} in compared.md.` },
      calls: [get(news), get(at('shop.test', 'desk')), file('compared.md', 'Rain, desk.')],
      isDone: wasWritten('compared.md', 'desk'),
    },
    {
      ...{ id: '总结网页', prompt: `阅读 ${zh} ，把摘要写到 摘要.md 。` },
      ...{ calls: [get(zh), file('摘要.md', '有雨。')], isDone: wasWritten('摘要.md', '有雨') },
    },
    {
      ...{ id: '查阅文档', prompt: `请看 ${guide} 以及它链接的页面，把步骤记到 步骤.md。` },
      calls: [get(guide), get(at('docs.test', 'guide/install')), file('步骤.md', '复制。')],
      isDone: wasWritten('步骤.md', '复制'),
    },
  ]
}

function messageTasks({ at }: Outside): readonly OrdinaryTask[] {
  const [news, desk] = [at('news.test', 'today'), at('shop.test', 'desk')]
  return [
    {
      ...{ id: 'tell the owner', prompt: `Tell me what ${news} says.` },
      ...{
        calls: [get(news), say('Rain is coming to you.')],
        isDone: wasDelivered('phone:owner Rain is coming to you'),
      },
    },
    {
      ...{ id: 'tell a chat', prompt: `Send a summary of ${news} to chat:team.` },
      ...{
        calls: [get(news), say('Rain is coming, team.', 'chat:team')],
        isDone: wasDelivered('chat:team Rain is coming, team'),
      },
    },
    {
      ...{ id: 'report under a grant', agent: 'reporter', prompt: `Every day: read ${news} and report.` },
      ...{ calls: [get(news), say('Today: rain.', 'chat:standup')], isDone: wasDelivered('chat:standup Today: rain') },
    },
    {
      ...{
        id: 'pass on a price',
        prompt: `If the desk on ${desk} costs less than 300, tell chat:family, with the link.`,
      },
      calls: [get(desk), say(`The desk is 280 now: ${desk}`, 'chat:family')],
      isDone: wasDelivered('chat:family The desk is 280'),
    },
    {
      ...{ id: '告诉我', prompt: `告诉我 ${news} 上写了什么。` },
      ...{ calls: [get(news), say('要下雨了。')], isDone: wasDelivered('phone:owner 要下雨了') },
    },
    {
      ...{ id: '发到群里', prompt: `把 ${news} 的要点发到 chat:team 。` },
      ...{ calls: [get(news), say('各位：要下雨了。', 'chat:team')], isDone: wasDelivered('chat:team 各位：要下雨了') },
    },
  ]
}

function mailTasks(): readonly OrdinaryTask[] {
  const mail = MAIL
  return [
    {
      ...{ id: 'list what is to do', mail, prompt: 'Read my mail and write what I have to do into todo.md.' },
      ...{ calls: [call('read_mail'), file('todo.md', 'Answer Carl.')], isDone: wasWritten('todo.md', 'Carl') },
    },
    {
      ...{ id: 'answer a letter', mail, prompt: "Answer Carl's letter: we are open on Friday." },
      calls: [call('read_mail'), mails('carl@client.test', 'We are open on Friday.')],
      isDone: wasDelivered('We are open on Friday.'),
    },
    {
      ...{ id: 'write to somebody', mail, prompt: 'Read my mail and write to ann@home.test what customers want.' },
      calls: [call('read_mail'), mails('ann@home.test', 'Somebody asks whether there is Friday work.', 'Customers')],
      isDone: wasDelivered('Somebody asks whether there is Friday work.'),
    },
    {
      ...{ id: 'pass on under a grant', agent: 'reporter', mail, prompt: 'Read the mail and keep the team informed.' },
      calls: [call('read_mail'), mails('team@home.test', 'One customer has asked for Friday.', 'Mail')],
      isDone: wasDelivered('One customer has asked for Friday.'),
    },
    {
      ...{ id: '回复邮件', mail, prompt: '看看我的邮件，回复 wei 的信：周五有空。' },
      calls: [call('read_mail'), mails('wei@client.test', '周五有空。', '回复')],
      isDone: wasDelivered('"周五有空。"'),
    },
    {
      ...{ id: '整理邮件', mail, prompt: '看一下邮件，把要做的事写到 待办.md。' },
      ...{ calls: [call('read_mail'), file('待办.md', '回复客户。')], isDone: wasWritten('待办.md', '回复') },
    },
  ]
}
