// Draws one dashboard from Prometheus' answers: `board` is what scripts/dashboard_pictures.py wrote.
"use strict";

const CELL = 30, GAP = 8, WIDTH = 1600, TOP = 64;
const COLUMN = WIDTH / 24;
const PALETTE = ["#3274d9", "#e0752d", "#37872d", "#8f3bb8", "#c4162a", "#0a9396", "#b5830f", "#6c757d", "#d6409f", "#5f8a00", "#1f4e79", "#a0522d",
                 "#7c7ce0", "#2a9d8f", "#e76f51"];
const COLORS = { green: "#37872d", red: "#c4162a", orange: "#e0752d", yellow: "#b5830f", blue: "#3274d9", purple: "#8f3bb8" };

const trim = (text) => text.includes(".") ? text.replace(/\.?0+$/, "") : text;
const digits = (value, most = 3) => {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.001) return value.toExponential(1);
  return trim(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : most));
};
const scaled = (value, steps, names) => {
  let at = 0, size = Math.abs(value);
  while (at < names.length - 1 && size >= steps[at]) { size /= steps[at]; value /= steps[at]; at += 1; }
  return digits(value) + names[at];
};
function shown(value, unit) {
  if (value === null || !isFinite(value)) return "no value";
  switch (unit) {
    case "s": return Math.abs(value) < 1 && value !== 0 ? digits(value * 1000) + " ms" : scaled(value, [60, 60, 24], [" s", " min", " h", " d"]);
    case "percentunit": return (value > 0.99 && value < 1 ? (value * 100).toFixed(2) : digits(value * 100)) + " %";
    case "bytes": return scaled(value, [1024, 1024, 1024], [" B", " KiB", " MiB", " GiB"]);
    case "ops": return scaled(value, [1000, 1000], ["/s", " k/s", " M/s"]);
    case "reqps": return scaled(value, [1000, 1000], [" req/s", " k req/s", " M req/s"]);
    default: return scaled(value, [1000, 1000, 1000], ["", " k", " M", " G"]);
  }
}

function element(parent, kind, text, style) {
  const made = document.createElement(kind);
  if (text) made.textContent = text;
  Object.assign(made.style, style || {});
  parent.appendChild(made);
  return made;
}

const colorOf = (value, steps) => {
  let found = steps[0] ? steps[0].color : "green";
  for (const step of steps) if (step.value !== null && value >= step.value) found = step.color;
  return COLORS[found] || found;
};

function stat(body, panel) {
  Object.assign(body.style, { display: "flex", flexWrap: "wrap", alignContent: "center", justifyContent: "center", gap: "2px 10px" });
  const many = panel.series.length > 1;
  if (!panel.series.length) return nothing(body);
  for (const one of panel.series) {
    const tile = element(body, "div", "", { textAlign: "center", minWidth: many ? "112px" : "0" });
    const value = one.points[one.points.length - 1][1];
    const whole = panel.unit === "short" && Math.abs(value) >= 1 ? Math.round(value) : value;
    element(tile, "div", shown(whole, panel.unit), { color: colorOf(value, panel.steps), fontSize: many ? "17px" : "30px", fontWeight: "600", lineHeight: "1.15" });
    if (many || one.name) element(tile, "div", one.name, { color: "#555", fontSize: "11px" });
  }
}

function bars(body, panel) {
  const sorted = [...panel.series].sort((a, b) => b.points.at(-1)[1] - a.points.at(-1)[1]).slice(0, 12);
  if (!sorted.length) return nothing(body);
  const most = Math.max(...sorted.map((one) => one.points.at(-1)[1]));
  for (const one of sorted) {
    const value = one.points.at(-1)[1];
    const row = element(body, "div", "", { display: "flex", alignItems: "center", height: `${Math.min(26, Math.floor(244 / sorted.length))}px`, fontSize: "12px" });
    element(row, "div", one.name, { width: "34%", overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap", color: "#333" });
    const track = element(row, "div", "", { flex: "1", background: "#eef0f3", height: "62%", margin: "0 8px" });
    element(track, "div", "", { width: `${Math.max(1, 100 * value / most)}%`, height: "100%", background: PALETTE[0] });
    element(row, "div", shown(value, panel.unit), { width: "56px", textAlign: "right", fontWeight: "600" });
  }
}

const axisTime = { type: "time", min: board.from, max: board.to, splitNumber: 5, axisLabel: { fontSize: 10, hideOverlap: true, formatter: "{HH}:{mm}" },
                   axisLine: { lineStyle: { color: "#999" } }, splitLine: { show: true, lineStyle: { color: "#eceef1" } } };

function marks() {
  return board.annotations.flatMap((one) => one.times.map((at) => ({ xAxis: at, lineStyle: { color: COLORS[one.color] || one.color, opacity: one.times.length > 20 ? 0.3 : 0.8 } })));
}

const nothing = (body) => {
  Object.assign(body.style, { display: "flex", alignItems: "center", justifyContent: "center" });
  element(body, "div", "no data", { color: "#888", fontSize: "18px" });
};

// Seconds are divided at whole minutes and hours, bytes at powers of two. at powers of two.
function steps(series, unit) {
  const most = Math.max(0, ...series.flatMap((one) => one.points.map(([, value]) => value || 0)));
  if (most === 0 || (unit === "percentunit" && most > 0.8 && most <= 1)) return { max: 1, interval: 0.25 };
  if (!(unit === "bytes" && most > 1) && !(unit === "s" && most > 60)) return {};
  const whole = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  const step = unit === "bytes" ? 2 ** Math.ceil(Math.log2(most / 5)) : whole.find((one) => one >= most / 5) || 86400;
  return { interval: step, max: step * Math.ceil(most / step) };
}

function lines(body, panel) {
  let series = panel.series;
  const live = series.filter((one) => one.points.some(([, value]) => value));
  let hidden = 0;
  if (series.length > 6) { hidden = series.length - live.length; series = live.length ? live : series.slice(0, 1); }
  if (series.length > PALETTE.length) {
    const sum = (one) => one.points.reduce((total, [, value]) => total + (value || 0), 0);
    series = [...series].sort((a, b) => sum(b) - sum(a)).slice(0, PALETTE.length);
    hidden = panel.series.length - series.length;
  }
  if (!series.length) return nothing(body);
  // The legend wraps: its lines are counted from the length of the names.
  const width = body.clientWidth - 16, names = series.map((one) => one.name || panel.title);
  let rows = 1, used = 0;
  for (const name of names) { const w = 24 + name.length * 6.1; if (used && used + w > width) { rows += 1; used = 0; } used += w; }
  rows = Math.min(rows, 5);
  const chart = echarts.init(body, null, { renderer: "canvas" });
  const limits = panel.steps.filter((step) => step.value !== null).map((step) => ({ yAxis: step.value, lineStyle: { color: COLORS[step.color], type: "solid" } }));
  chart.setOption({
    animation: false, useUTC: true, color: PALETTE, textStyle: { fontFamily: "inherit" },
    grid: { left: 8, right: 14, top: 10, bottom: rows * 16 + 8, containLabel: true },
    legend: { bottom: 0, left: 4, itemWidth: 12, itemHeight: 3, itemGap: 8, icon: "rect", textStyle: { fontSize: 10.5, color: "#333" }, data: names },
    xAxis: axisTime,
    yAxis: { type: "value", min: panel.min, splitNumber: 4, ...steps(series, panel.unit), axisLabel: { fontSize: 10, formatter: (value) => shown(value, panel.unit) },
             splitLine: { lineStyle: { color: "#eceef1" } } },
    series: series.map((one, at) => ({
      name: names[at], type: "line", data: one.points, showSymbol: one.points.filter(([, value]) => value !== null).length < 40, symbolSize: 3, connectNulls: false, step: false, lineStyle: { width: 1.4 },
      areaStyle: series.length === 1 ? { opacity: 0.08 } : undefined,
      markLine: at === 0 ? { silent: true, symbol: "none", label: { show: false }, lineStyle: { type: "dashed", width: 1 }, data: [...marks(), ...limits] } : undefined,
    })),
  });
  if (hidden) element(body.parentElement, "div", `${hidden} more series are 0 or smaller`, { position: "absolute", right: "10px", top: "7px", fontSize: "10px", color: "#888" });
}

function heat(body, panel) {
  const { times, buckets, cells } = panel.heat;
  if (!cells.length) return nothing(body);
  const chart = echarts.init(body, null, { renderer: "canvas" });
  const most = Math.max(...cells.map((cell) => cell[2]));
  const every = Math.max(1, Math.round(times.length / 6));
  chart.setOption({
    animation: false, textStyle: { fontFamily: "inherit" },
    grid: { left: 8, right: 14, top: 10, bottom: 30, containLabel: true },
    xAxis: { type: "category", data: times, axisLabel: { fontSize: 10, interval: every - 1, formatter: (at) => new Date(+at).toISOString().slice(11, 16) }, axisTick: { show: false } },
    yAxis: { type: "category", data: buckets.map((bound) => "≤ " + shown(bound, panel.unit)), axisLabel: { fontSize: 10 } },
    visualMap: { min: 0, max: most, orient: "horizontal", right: 8, bottom: 0, itemHeight: 120, itemWidth: 8, text: [digits(most), "0"], textStyle: { fontSize: 10 },
                 inRange: { color: ["#f3f6fb", "#9ec5f0", "#3274d9", "#1f3a8a", "#5b1a6e"] } },
    series: [{ type: "heatmap", data: cells.map(([x, y, value]) => [x, y, value]), itemStyle: { borderWidth: 0 } }],
  });
}

const page = document.body;
Object.assign(page.style, { margin: "0", background: "#f4f5f7", width: `${WIDTH}px`, fontFamily: "'Liberation Sans', 'DejaVu Sans', Arial, sans-serif", position: "relative" });
element(page, "div", board.title, { position: "absolute", left: "14px", top: "8px", fontSize: "21px", fontWeight: "600" });
element(page, "div", board.caption, { position: "absolute", left: "14px", top: "37px", fontSize: "12.5px", color: "#555" });
const key = element(page, "div", "", { position: "absolute", right: "14px", top: "14px", fontSize: "12px", color: "#333", display: "flex", gap: "16px" });
for (const one of board.annotations) {
  if (!one.times.length) continue;
  const entry = element(key, "span");
  element(entry, "span", "", { display: "inline-block", height: "11px", borderLeft: `2px dashed ${COLORS[one.color] || one.color}`, marginRight: "5px", verticalAlign: "-1px" });
  element(entry, "span", one.name);
}
for (const panel of board.panels) {
  const { x, y, w, h } = panel.grid;
  const box = element(page, "div", "", {
    position: "absolute", left: `${x * COLUMN + GAP / 2}px`, top: `${TOP + y * (CELL + GAP)}px`, width: `${w * COLUMN - GAP}px`, height: `${h * CELL + (h - 1) * GAP}px`,
    boxSizing: "border-box" });
  if (panel.type === "row") {
    element(box, "div", panel.title, { fontSize: "15px", fontWeight: "600", paddingTop: "7px", paddingLeft: "6px" });
    continue;
  }
  Object.assign(box.style, { background: "#fff", border: "1px solid #dcdfe4", borderRadius: "3px" });
  element(box, "div", panel.title, { fontSize: "13px", fontWeight: "600", padding: "6px 9px 0", whiteSpace: "nowrap", overflow: "hidden" });
  const body = element(box, "div", "", { position: "absolute", left: "4px", right: "4px", top: "26px", bottom: "4px" });
  if (panel.type === "bargauge") Object.assign(body.style, { left: "10px", right: "10px" });
  ({ stat, bargauge: bars, heatmap: heat, timeseries: lines })[panel.type](body, panel);
}
