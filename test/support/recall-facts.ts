/** 200 facts about an office, half of them in Chinese, and 100 questions, each with the key of the fact it asks for. */

export interface OfficeFact {
  readonly key: string
  readonly text: string
}

const PEOPLE = ['Ada', 'Boris', 'Chandra', 'Dagny', 'Emeka', 'Farida', 'Goro', 'Hilde', 'Ivo', 'Juno']
const THINGS: readonly (readonly [string, (who: string, n: number) => string])[] = [
  ['birthday', (who, n) => `${who} was born on the ${n + 3}th of March and likes lemon cake`],
  ['desk', (who, n) => `${who} sits on floor ${n + 1}, next to the printer`],
  ['phone', (who, n) => `Call ${who} at extension 40${n}7, never before ten`],
  ['project', (who, n) => `${who} leads project Falcon-${n} until the autumn review`],
  ['diet', (who) => `${who} eats no nuts and no shellfish`],
  ['language', (who) => `${who} prefers mail in Portuguese`],
  ['laptop', (who, n) => `The laptop of ${who} has the asset tag LT-88${n}`],
  ['holiday', (who, n) => `${who} is away in week ${n + 30}, hiking`],
  ['editor', (who) => `${who} reviews patches with vim and hates tabs`],
  ['train', (who, n) => `${who} commutes with the 7:${n}5 train from Bern`],
]

const PLACES = ['北京', '上海', '广州', '深圳', '成都', '杭州', '武汉', '西安', '南京', '重庆']
const CHINESE: readonly (readonly [string, (where: string, n: number) => string])[] = [
  ['服务器', (where, n) => `${where}机房的服务器编号是${n}号，管理员姓王`],
  ['仓库', (where, n) => `${where}仓库每周${n % 7}盘点一次库存`],
  ['合同', (where, n) => `${where}分公司的租房合同到${2030 + n}年到期`],
  ['密码策略', (where) => `${where}办公室的密码策略是九十天更换`],
  ['咖啡机', (where) => `${where}的咖啡机坏了，已经报修`],
  ['会议室', (where, n) => `${where}的大会议室可以坐${n + 20}个人`],
  ['快递', (where) => `${where}的快递请寄到前台，不要寄到仓门`],
  ['停车位', (where, n) => `${where}停车位在地下${n}层，需要刷卡`],
  ['空调', (where) => `${where}办公区空调温度设为二十五度`],
  ['绿植', (where) => `${where}窗边的绿植每三天浇一次水`],
]

const keyOf = (who: string, what: string): string => `${who} ${what}`

export const FACTS: readonly OfficeFact[] = [
  ...PEOPLE.flatMap((who, n) => THINGS.map(([what, say]) => ({ key: keyOf(who, what), text: say(who, n) }))),
  ...PLACES.flatMap((where, n) => CHINESE.map(([what, say]) => ({ key: keyOf(where, what), text: say(where, n) }))),
]

const QUESTIONS: readonly (readonly [string, (who: string, n: number) => string])[] = [
  ['birthday', (who) => `Which cake does ${who} like, and when were they born?`],
  ['phone', (who) => `What is the extension to call ${who} at?`],
  ['diet', (who) => `Does ${who} eat nuts or shellfish?`],
  ['laptop', (_, n) => `Whose asset tag is LT-88${n}?`],
  ['train', (who) => `From where does ${who} commute by train?`],
]

const CHINESE_QUESTIONS: readonly (readonly [string, (where: string) => string])[] = [
  ['服务器', (where) => `${where}机房的服务器编号是多少？`],
  ['合同', (where) => `${where}分公司的租房合同什么时候到期？`],
  ['会议室', (where) => `${where}的大会议室能坐几个人？`],
  ['快递', (where) => `寄到${where}的快递放在前台吗？`],
  ['绿植', (where) => `${where}的绿植多久浇水？`],
]

export const RECALL_CASES: readonly { readonly query: string; readonly key: string }[] = [
  ...PEOPLE.flatMap((who, n) => QUESTIONS.map(([what, ask]) => ({ query: ask(who, n), key: keyOf(who, what) }))),
  ...PLACES.flatMap((where) =>
    CHINESE_QUESTIONS.map(([what, ask]) => ({ query: ask(where), key: keyOf(where, what) })),
  ),
]
