/** The sentences that the offline model understands, as people are told. */

import type { Language } from './language.ts'

export const OFFLINE_SENTENCES: Readonly<Record<Language, readonly string[]>> = {
  en: [
    'The offline model understands these sentences, one per line (and skips those with "not", "if", "or" or "every"):',
    '- create a file NAME with the content "TEXT" · write "TEXT" to NAME · create NAME: TEXT up to the end of the line',
    '- append the line "TEXT" to NAME · read NAME · list the files in FOLDER',
    '- write a report · write an index of the files to NAME',
    '- run `COMMAND`, with the backquotes, or a block of ```bash · wait 10 minutes · wait for a message',
    '- call a tool of your own by its name, with its arguments in quotes: use NAME "TEXT"',
  ],
  zh: [
    '离线模型看得懂的句子，一句或一行一件事（含有“不”、“如果”、“或者”、“每”的句子一律不动）：',
    '- 创建文件 NAME，内容为“TEXT” · 把“TEXT”写入 NAME · 创建文件 NAME：直到行末的 TEXT',
    '- 在 NAME 末尾追加一行“TEXT” · 读取 NAME · 列出 FOLDER 目录下的文件',
    '- 生成简报 · 整理文件索引到 NAME：根据所给的数据和文件',
    '- 运行命令 `COMMAND`（带反引号），或 ```bash 代码块 · 等待10分钟 · 等待用户消息',
    '- 用名字调用你自己的工具，参数放在引号里：使用 NAME “TEXT”',
  ],
}
