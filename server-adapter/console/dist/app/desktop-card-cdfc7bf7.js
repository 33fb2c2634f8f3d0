import{A as e,Dt as t,I as n,M as r,P as i,Q as a,St as o,V as s,W as c,Y as l,_t as u,at as d,c as f,f as p,h as m,kt as h,n as g,t as _}from"./console-7b64a923.js";import{c as v,d as y,f as b,l as x,n as S,o as C,s as w}from"./desktops-ed6e0000.js";const T=15e3;function E({asked:e}){let[t,r]=o(`id`in e?e.id:``),i=/* @__PURE__ */ new Set,a=({workSpaceId:e,type:t})=>e!==null&&i.has(e)||t===`import.committed`,c=s(`card ${JSON.stringify(e)}`,t=>D(e,t),{every:T,on:a});for(let{workSpId:e}of c.data??[])i.add(e);return u`<${n} of=${c}>${n=>{let i=n.find(({workSpId:e})=>e===t)??n[0];return i===void 0?u`<p>${`id`in e?`No desktop has this id. It may have been removed.`:`No desktop belongs to this user.`}</p>`:u`${n.length>1&&u`<${O} rows=${n} chosen=${i.workSpId} choose=${r} user=${i.username} />`}
            <${k} key=${i.workSpId} row=${i} named=${n.length>1||`user`in e} on=${a} />`}}<//>`}async function D(e,n){let r=`id`in e?(await t(`/query/workspaces`,{workSpId:e.id,window:`7d`,limit:1},n)).rows:[],i=`user`in e?e.user:r[0]?.username;if(!i)return r;let{rows:a}=await t(`/query/workspaces`,{username:i,window:`7d`,limit:12},n),o=a.filter(({workSpId:e})=>e!==r[0]?.workSpId);return[...r,...o]}function O({rows:e,chosen:t,choose:n,user:r}){return u`<div class="row" role="group" aria-label="Desktops of the user">
        ${e.map(({workSpId:e,state:r})=>u`<button key=${e} type="button" class="toggle" aria-pressed=${e===t} onClick=${()=>n(e)}><${i} text=${e} /> <span class="note"><${m} state=${r} /></span></button>`)}
        ${e.length>=12&&r&&u`<a href=${d(`desktops`,void 0,{q:r})}>All of them</a>`}
    </div>`}function k({row:e,named:t,on:a}){let o=e.workSpId,c=s(`more ${o}`,t=>A(e,t),{every:T,on:a}),l=s(`usual logons`,e=>g(`-28d`,e)),f=Date.now(),h=[e.computeTypeName,e.runningMode,e.region].filter(Boolean);return u`<div class="card-line">
            <p class="row">${t&&u`<b class="mono"><${i} text=${o} /></b>`}<span class="card-state"><${m} state=${e.state} /></span>${e.transition&&u`<span class="note">${p(e.transition)} runs</span>`}</p>
            <p>${e.username?u`<${r} name=${e.username} />`:`No user`} <span class="note">on</span> <${i} text=${e.computerName} /></p>
            <p class="note">${h.map((e,t)=>u`${t>0&&`, `}<${i} text=${e} />`)}</p>
        </div>
        ${c.data?.hold&&u`<${M} hold=${c.data.hold} />`}
        <${S} row=${e} held=${e.onHold} />
        <${P} row=${e} now=${f} />
        <${n} of=${c}>${({logon:e,events:t})=>u`
            <section><h3>Last logon</h3><p><${_} logon=${e} fleet=${l.data??{}} now=${f} days=${28} /></p></section>
            <section><h3>Last events</h3><${I} events=${t} now=${f} /></section>`}<//>
        <p class="dialog-actions"><a class="button" href=${d(`desktop`,o)}>Open the desktop's page</a></p>`}async function A(t,n){let r=Date.now()-24192e5,[i,a,o]=await Promise.all([e({workSpId:t.workSpId},n),C(w(t),e=>y(e,r,n),e=>e.length>0),j(t.workSpId,n)]);return{hold:i[0],logon:a[0],events:o}}async function j(e,t){let n=[],r=4;for await(let{rows:i}of h(`/query/timeline`,{workSpaceId:e,from:`-28d`,limit:20},t))if(n.push(...i),n.length>=5||--r===0)break;return n.slice(0,5)}function M({hold:{matter:e,placedBy:t,placedAt:n}}){return u`<section class="hold" aria-label="Litigation hold">
        <p><span class="state care"><span class="glyph" aria-hidden="true">▣</span><b>On litigation hold</b></span> <${i} text=${e} /></p>
        <p class="note">Placed by <${i} text=${t} /> on ${a(n)}</p>
    </section>`}const N=[[`cpu`,`CPU`],[`memory`,`Memory`],[`rootVolume`,`Root volume`],[`userVolume`,`User volume`]];function P({row:e,now:t}){return e.lastSeen===null?u`<p class="note">No telemetry: no agent has reported from this desktop.</p>`:u`<section>
        <h3>Now</h3>
        ${e.asOf!==null&&u`<p class="warning">Not reporting: these values are of ${a(e.asOf)}, ${c(e.asOf,t)}.</p>`}
        <table class="plain bars values">
            <caption class="hidden">Values, the newest that were reported</caption>
            <tbody>${N.map(([t,n])=>u`<tr key=${t}><th scope="row">${n}</th><td class="meter"><${f} value=${e[t]} max=${100} whole=${100} tone=${0} /></td><td class="number"><${b} value=${e[t]} asOf=${e.asOf} volume=${t.endsWith(`Volume`)} /></td></tr>`)}</tbody>
        </table>
        <p class="note">${e.asOf===null&&u`Reported ${c(e.lastSeen,t)}. `}${e.uptimeSeconds!==null&&u`${e.asOf===null?`Up`:`It was up`} for ${l(1e3*e.uptimeSeconds)}. `}${e.healthScore!==null&&`Health in 7 days ${e.healthScore.toFixed(0)} of 100.`}</p>
    </section>`}const F=e=>e.replaceAll(/(\d+) ms/g,(e,t)=>l(Number(t)));function I({events:e,now:t}){return e.length===0?u`<p class="note">Nothing in ${28} days.</p>`:u`<ul class="events">
        ${e.map(e=>{let{kind:n,at:r,title:o,detail:s,by:l}=e,{glyph:d,tone:f}=x(e)?{glyph:`✖`,tone:`bad`}:v[n]??{glyph:`–`,tone:`off`},h=n===`state`?u`<${m} state=${o} />`:u`<span class="state ${f}"><span class="glyph" aria-hidden="true">${d}</span>${n===`audit`||n===`hold`?p(o):u`<${i} text=${o} />`}</span>`;return u`<li key=${`${r} ${n} ${o}`}><span class="note nowrap" title=${a(r)}>${c(r,t)}</span> <span>${h}${s&&u` <span class="note"><${i} text=${n===`startup`?F(s):s} /></span>`}${l&&u` <span class="note">· <${i} text=${l} /></span>`}</span></li>`})}
    </ul>`}export{E as DesktopCard};